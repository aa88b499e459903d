// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2
// labels: device
#include "dimesh/any_tensor.hpp"

#include <doctest/doctest.h>

#include <map>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/layout/layout_set.hpp"

namespace dm = dimesh;
namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<rows> {};
using by_batch = dm::layout<pod, dm::split<batch, rows>>;
using by_hidden = dm::layout<pod, dm::split<hidden, rows>>;
template <class L> using matrix = dm::tensor<float, L, batch, hidden>;

TEST_CASE("a handle gives back the tensor that it was made of, and its memory") {
  const dm::grid<pod> g;
  auto x = dm::zeros<matrix<by_batch>>(g);
  const dm::any_tensor held = x;
  CHECK(held.is<matrix<by_batch>>());
  CHECK(!held.is<matrix<by_hidden>>());
  CHECK(!held.is<dm::tensor<double, by_batch, batch, hidden>>());
  CHECK(!held.is<dm::tensor<float, dm::shaped<by_batch>, batch, hidden>>());
  CHECK(held.rank() == 2);
  CHECK(held.extent(0) == 8);
  CHECK(held.as<matrix<by_batch>>().data() == x.data());
  CHECK(held.text() == dm::describe(x));
}

TEST_CASE("another type is refused by a sentence that names both") {
  const dm::grid<pod> g;
  const dm::any_tensor held = dm::zeros<matrix<by_batch>>(g);
  CHECK_THROWS_WITH_AS(held.as<matrix<by_hidden>>(), doctest::Contains("float[batch=8/rows:"),
                       dm::error);
  CHECK_THROWS_WITH_AS(held.as<matrix<by_hidden>>(),
                       doctest::Contains("not float[batch=8, hidden=4/rows"), dm::error);
  const dm::any_tensor none;
  CHECK(!none.defined());
  CHECK(none.text() == "");
  CHECK_THROWS_WITH_AS(none.as<matrix<by_batch>>(), doctest::Contains("holds nothing"), dm::error);
}

TEST_CASE("tensors of several layouts in one container") {
  const dm::grid<pod> g;
  std::map<std::string, dm::any_tensor> all;
  all["a"] = dm::zeros<matrix<by_batch>>(g);
  all["b"] = dm::zeros<matrix<by_hidden>>(g);
  CHECK(all.at("a").is<matrix<by_batch>>());
  CHECK(all.at("b").is<matrix<by_hidden>>());
}

TEST_CASE("facts of one type at two addresses, as in libraries that hide their symbols") {
  namespace dd = dm::detail;
  const dm::grid<pod> g;
  const auto x = dm::zeros<matrix<by_batch>>(g);
  const dd::tensor_facts& own = dd::spec_facts<dm::spec_of<matrix<by_batch>>>;
  const dd::dim_facts first = *own.dim[0], second = *own.dim[1];
  dd::facts_of_own_dims elsewhere = own;
  elsewhere.set_dim(0, &first);
  elsewhere.set_dim(1, &second);
  const auto held = [&](const dd::tensor_facts& f) {
    auto y = x;
    dd::core_of(y).facts = &f;
    return dm::any_tensor(y);
  };
  const auto there = held(elsewhere);
  CHECK(there.is<matrix<by_batch>>());
  CHECK(!there.is<matrix<by_hidden>>());
  const auto back = there.as<matrix<by_batch>>();
  CHECK(dd::core_of(back).facts == &own);
  CHECK(back.data() == x.data());

  const auto differs = [&](auto change) {
    dd::facts_of_own_dims f = elsewhere;
    change(f);
    return !held(f).template is<matrix<by_batch>>();
  };
  dd::dim_facts other = first;
  ++other.number;
  CHECK(differs([&](auto& f) { f.set_dim(0, &other); }));
  CHECK(differs([&](auto& f) { f.set_dim(0, &second), f.set_dim(1, &first); }));
  CHECK(differs([](auto& f) { ++f.mesh; }));
  CHECK(differs([](auto& f) { f.layout = dd::table{}; }));
  CHECK(differs([](auto& f) { f.kind = dm::element_kind::int32; }));
  CHECK(differs([](auto& f) { --f.rank; }));
}

TEST_CASE("a tensor that stands for its cost is described, and held, as it is elsewhere") {
  using X = matrix<by_batch>;
  const dm::grid<pod> g;
  const auto x = dm::zeros<X>(g);
  std::string described, held, shape;
  bool again = false;
  const auto step = [&](const auto& v) {
    described = dm::describe(v);
    shape = dm::describe(dm::shapes_of(v));
    const dm::any_tensor any = v;
    held = any.text();
    again = any.is<X>() && dm::describe(any.as<X>()) == described;
  };
  CHECK(dm::count(step, x).bytes<>() == 0);
  CHECK(described == dm::describe(x));
  CHECK(held == dm::describe(x));
  CHECK(shape == dm::describe(dm::shapes_of(x)));
  CHECK(again);
}

TEST_CASE("a layout chosen by name") {
  const dm::layout_set<by_batch, by_hidden> layouts("batch", "hidden");
  const dm::grid<pod> g;
  std::string seen;
  const auto note = [&]<class L>(dm::layout_tag<L>) {
    seen += dm::describe(dm::zeros<matrix<L>>(g)) + ";";
  };
  layouts.visit("hidden", note);
  CHECK(seen == dm::describe(dm::zeros<matrix<by_hidden>>(g)) + ";");
  CHECK(layouts.names() == std::vector<std::string>{"batch", "hidden"});
  CHECK(layouts.has("batch"));
  CHECK(!layouts.has("Batch"));
  CHECK_THROWS_WITH_AS(layouts.visit("rows", note),
                       doctest::Contains("no layout is called 'rows'; there are 'batch' 'hidden'"),
                       dm::error);
  int count = 0;
  layouts.for_each([&](std::string_view name, auto) { count += name.size() > 0; });
  CHECK(count == 2);
}

}  // namespace

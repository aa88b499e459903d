// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do operations refuse that their operands' types allow? Operands on two grids, operands that
// are not there, and operands recorded by two backward passes of which neither is inside the other:
// each is an error that names the call, before anything is computed.
//
// ranks: 1 2
#include "dimesh/core/pullback.hpp"
#include "support/host.hpp"

#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/op/compound.hpp>
#include <memory>
#include <string>
#include <vector>

namespace dm = dimesh;

namespace {

struct width : dm::dim<12> {};
struct length : dm::dim<> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using whole = dm::layout<line>;
using halves = dm::layout<line, dm::split<width, ranks>>;
template <class L> using row = dm::tensor<double, L, width>;

template <class L> auto filled(const dm::grid<line>& g, double by) {
  return dm::generate<row<L>>(g, [by](dm::index_t i) { return by + static_cast<double>(i); });
}

/// What f complains of; empty if it does not.
template <class F> std::string complaint(const F& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

template <class L> void check_operands() {
  const dm::grid<line> g, other;
  const auto a = filled<L>(g, 1), b = filled<L>(other, 2);
  CHECK(complaint([&] { (void)(a + filled<L>(g, 2)); }).empty());

  for (const std::string& text : {complaint([&] { (void)dm::einsum<>(a, b); }),
                                  complaint([&] { (void)dm::einsum<>(b, a); })}) {
    CHECK(says(text, "einsum: the operands live on two grids"));
  }
  const row<L> never;
  for (const std::string& text :
       {complaint([&] { (void)dm::einsum<>(never, a); }),
        complaint([&] { (void)dm::einsum<>(a, never); }), complaint([&] { (void)dm::sum(never); }),
        complaint([&] { (void)dm::tanh(never); })}) {
    CHECK(says(text, ": an operand is not defined"));
  }
  CHECK(complaint([&] { (void)dm::sum(never); }).starts_with("sum: "));
}

TEST_CASE("operands on two grids, and operands that were never made") {
  check_operands<whole>();
  check_operands<halves>();
}

TEST_CASE("tensors that were moved from, or never made, and what asks for their grid") {
  const dm::grid<line> g;
  auto a = filled<halves>(g, 1);
  const auto kept = std::move(a);
  CHECK(kept.defined());
  CHECK(!a.defined());  // NOLINT: that is what is asked
  CHECK(says(complaint([&] { (void)dm::sum(a); }), "sum: an operand is not defined"));
  const std::vector<double> block(static_cast<std::size_t>(kept.local_size()), 3);
  row<halves> unmade;
  dm::tensor<double, whole> number;
  const auto clears = [](const auto& given) {
    auto x = given;
    dm::clear(x);
  };
  CHECK(says(complaint([&] { dm::clear(a); }), "fill: an operand is not defined"));
  CHECK(says(complaint([&] { dm::fill_block(a, block); }), "fill: an operand is not defined"));
  CHECK(says(complaint([&] { dm::clear(unmade); }), "fill: an operand is not defined"));
  CHECK(says(complaint([&] { dm::clear(number); }), "fill: an operand is not defined"));
  CHECK(says(complaint([&] { (void)dm::count(clears, kept); }), "costs are being counted"));
  a = filled<halves>(g, 2);
  CHECK(dm::value(dm::complete(dm::sum(a))) == 12 * 2 + 66);
  row<halves> b;
  b = std::move(a);
  CHECK(!a.defined());
  CHECK(b.defined());
  const row<whole> never;
  CHECK(says(complaint([&] { (void)dm::to_rank(never); }), "to_rank: an operand is not defined"));
  CHECK(says(complaint([&] { (void)dm::broadcast_element(never, {3}); }), "broadcast_element: "));
  CHECK(says(complaint([&] { (void)never.grid(); }), "tensor::grid: an operand is not defined"));
}

TEST_CASE("shapes that were moved from are refused as the tensors that they stand for") {
  const auto twice = [](const auto& given) {
    auto x = given;
    const auto y = std::move(x);
    return x + y;  // NOLINT: that is what is asked
  };
  const auto again = [](const auto& given) {
    auto x = given, y = given;
    y = std::move(x);
    x = y;
    return x + y;
  };
  const dm::grid<line> g;
  const auto a = filled<halves>(g, 1);
  for (const bool shaped : {false, true}) {
    const auto counted = [&](const auto& f) {
      return complaint(
          [&] { shaped ? (void)dm::count(f, dm::shapes_of(a)) : (void)dm::count(f, a); });
    };
    CHECK(says(counted(twice), "operator+: an operand is not defined: it was moved from"));
    CHECK(counted(again).empty());
  }
  CHECK(says(complaint([&] { (void)twice(a); }), "operator+: an operand is not defined"));
}

TEST_CASE("tensors that outlive their grid are refused, not followed") {
  auto g = std::make_unique<dm::grid<line>>();
  const auto a = filled<halves>(*g, 1);
  g.reset();
  CHECK(says(complaint([&] { (void)(a + a); }), "an operand's grid is gone"));
  CHECK(says(complaint([&] { (void)dm::to_rank(a); }), "to_rank: an operand's grid is gone"));
  CHECK(says(complaint([&] { (void)a.grid(); }), "an operand's grid is gone"));
  const dm::grid<line> again;  // a new one does not make it good
  CHECK(says(complaint([&] { (void)dm::sum(a); }), "an operand's grid is gone"));
  CHECK(says(complaint([] { dm::grid<line> none(MPI_COMM_NULL); }), "grid: the communicator is"));
}

template <class L> void check_counted() {
  const dm::grid<line> g;
  const auto w = filled<L>(g, 1), x = filled<L>(g, 2);
  const auto loss = [](const auto& w, const auto& x) {
    return dm::complete(dm::sum(dm::tanh(w) * x));
  };
  const auto step = [&loss](const auto& w, const auto& x) {
    return dm::complete(dm::value_and_grad(loss, w)(x));
  };
  const auto seen = dm::count(step, w, x);
  const auto shapes = dm::count(step, dm::shapes_of(w), dm::shapes_of(x));
  CHECK(seen.flops() > 0);
  CHECK(seen.flops() == shapes.flops());
  CHECK(seen.moved() == shapes.moved());
  CHECK(seen.peak() == shapes.peak());
  CHECK(seen.counts.over == shapes.counts.over);
  CHECK(dm::events_of(step, w, x).sizes.size[0] == g.ranks());
  CHECK(dm::count([](const auto& a) { return dm::clone(a); }, w).moved() == 2 * w.local_bytes());
  // What needs elements is refused; what was counted has its own as before.
  const auto reads = [](const auto& a) { return dm::value(dm::complete(dm::sum(a))); };
  CHECK(says(complaint([&] { (void)dm::count(reads, w); }), "value: an operand holds no elements"));
  CHECK(says(complaint([&] { (void)dm::count([&w](const auto& a) { return a + w; }, x); }),
             ": an operand holds no elements, since costs are being counted"));
  CHECK(reads(w) == 12 * 1 + 66);
}
TEST_CASE("count of tensors with data: by their types, without computing anything") {
  check_counted<whole>();
  check_counted<halves>();
}

TEST_CASE("x += y is x = x + y: copies keep their values") {
  const dm::grid<line> g;
  auto a = filled<halves>(g, 1);
  const auto before = a;
  a += a;
  a *= 3.0;
  a -= before;
  a /= 5.0;
  CHECK(dm::value(dm::complete(dm::sum(a))) == 12 * 1 + 66);
  CHECK(dm::value(dm::complete(dm::sum(before))) == 12 * 1 + 66);
  const auto loss = [](const auto& x) {
    auto y = dm::square(x);
    y += x;
    return dm::sum(y);
  };
  const auto [value, slope] = dm::complete(dm::value_and_grad(loss, before)());
  CHECK(dm::value(dm::complete(dm::sum(slope))) == 2 * (12 * 1 + 66) + 12);
}

constexpr auto plus_twice = [](auto x, auto y) { return x + 2 * y; };

TEST_CASE("map: what is given up is where the result is, if nobody else holds it") {
  const dm::grid<line> g;
  const auto b = filled<halves>(g, 1);
  auto a = filled<halves>(g, 2);
  const double* const at = a.data();
  a = dm::map(plus_twice, std::move(a), b);
  CHECK(a.data() == at);
  CHECK(test_support::on_host(a)[1] == 3 * test_support::on_host(b)[1] + 1);
  const auto kept = a;
  a = dm::map(plus_twice, std::move(a), b);
  CHECK(a.data() != at);
  CHECK(test_support::on_host(kept)[1] == 3 * test_support::on_host(b)[1] + 1);
  CHECK(test_support::on_host(a)[1] ==
        test_support::on_host(kept)[1] + 2 * test_support::on_host(b)[1]);
  const double first = test_support::on_host(a)[0];
  a = dm::map(plus_twice, std::move(a), a);
  CHECK(test_support::on_host(a)[0] == 3 * first);
  a = dm::map(plus_twice, dm::map(plus_twice, a + b, b), b);
  CHECK(test_support::on_host(a)[0] == 3 * first + 5 * test_support::on_host(b)[0]);

  const auto next = dm::map(plus_twice, std::move(a), b);
  CHECK(says(complaint([&] { (void)dm::sum(a); }), "moved from"));
  const auto rounded = dm::map([](auto x) { return static_cast<float>(x); }, dm::clone(next));
  CHECK(test_support::on_host(rounded)[0] == static_cast<float>(test_support::on_host(next)[0]));
  const auto wider = dm::map(plus_twice, dm::sum<width>(filled<whole>(g, 0)), filled<whole>(g, 1));
  CHECK(wider.local_size() == 12);
}
TEST_CASE("map: of what is given up, costs and gradients") {
  const dm::grid<line> g;
  const auto x = filled<halves>(g, 1);
  const auto onto = [](const auto& v) {
    auto y = dm::square(v);
    y = dm::map(plus_twice, std::move(y), v);
    return y;
  };
  const auto beside = [](const auto& v) {
    auto y = dm::square(v);
    y = dm::map(plus_twice, y, v);
    return y;
  };
  CHECK(dm::count(onto, x).peak() + x.local_bytes() == dm::count(beside, x).peak());
  CHECK(dm::count(onto, x).peak() == dm::count(onto, dm::shapes_of(x)).peak());
  const auto loss_by = [](const auto& f) { return [f](const auto& v) { return dm::sum(f(v)); }; };
  const auto [value, slope] = dm::complete(dm::value_and_grad(loss_by(onto), x)());
  const auto [same, slopes] = dm::complete(dm::value_and_grad(loss_by(beside), x)());
  CHECK(dm::value(value) == dm::value(same));
  CHECK(test_support::on_host(slope)[1] == test_support::on_host(slopes)[1]);
  CHECK(test_support::on_host(slope)[1] == 2 * test_support::on_host(x)[1] + 2);
}

TEST_CASE("parameters that nothing else holds are kept by the function of their gradient") {
  const dm::grid<line> g;
  const auto loss = [](const auto& x) { return dm::sum(dm::square(x)); };
  const auto slope = dm::value_and_grad(loss, filled<halves>(g, 1));
  const auto fill_the_pool = filled<halves>(g, 7);
  const auto [value, gradient] = dm::complete(slope());
  CHECK(dm::value(dm::complete(dm::sum(gradient))) == 2 * (12 * 1 + 66));
  CHECK(dm::value(dm::complete(dm::sum(fill_the_pool))) == 12 * 7 + 66);
}

template <class L> void check_names() {
  const dm::grid<line> g, other;
  const auto a = filled<L>(g, 1), b = filled<L>(other, 2);
  const row<L> never;
  // Each complaint begins with what the user wrote, then a colon.
  CHECK(complaint([&] { (void)(a + b); }).starts_with("operator+: the operands live on two grids"));
  CHECK(complaint([&] { (void)(a - b); }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(a * b); }).starts_with("operator*: "));
  CHECK(complaint([&] { (void)(a / b); }).starts_with("operator/: "));
  CHECK(complaint([&] { (void)(a <= b); }).starts_with("operator<=: "));
  CHECK(complaint([&] { (void)dm::select(a < 1.0, a, b); }).starts_with("select: "));
  CHECK(complaint([&] { (void)dm::maximum(a, b); }).starts_with("maximum: "));
  CHECK(complaint([&] { (void)dm::pow(a, b); }).starts_with("pow: "));
  CHECK(complaint([&] { (void)dm::layer_norm<width>(a, b); }).starts_with("layer_norm: "));
  CHECK(complaint([&] { (void)dm::rms_norm<width>(a, b); }).starts_with("rms_norm: "));
  CHECK(complaint([&] { (void)dm::exp(never); }).starts_with("exp: an operand is not defined"));
  CHECK(complaint([&] { (void)-never; }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(never + 1); }).starts_with("operator+: "));
  CHECK(complaint([&] { (void)(never - 1); }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(1 - never); }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(2 * never); }).starts_with("operator*: "));
  CHECK(complaint([&] { (void)(never != 2); }).starts_with("operator!=: "));
  const auto own = [](const auto& x, const auto& y) { return x + y; };
  CHECK(complaint([&] { (void)dm::map(own, a, b); }).starts_with("map: "));
  const auto recorded = [&](const auto& x) { return dm::complete(dm::sum(x * b)); };
  CHECK(complaint([&] { (void)dm::value_and_grad(recorded, a)(); }).starts_with("operator*: "));
}

TEST_CASE("complaints name what was called") {
  check_names<whole>();
  check_names<halves>();
}

TEST_CASE("extents that only the run knows must agree") {
  const dm::grid<line> g;
  using text = dm::tensor<double, whole, length>;
  const auto a = dm::zeros<text>(g, length{4}), b = dm::zeros<text>(g, length{5});
  const std::string said = complaint([&] { (void)dm::einsum<>(a, b); });
  CHECK(says(said, "einsum: the operands disagree on dim 'length'"));
}

constexpr const char* two_passes = "the operands are recorded by two value_and_grad";

TEST_CASE("what is recorded outside is not taken for what is recorded inside") {
  const dm::grid<line> g;
  const auto mixed = [&g](const auto& product) {
    return complaint([&] {
      const auto inner = filled<whole>(g, 1), outer = filled<whole>(g, 2);
      const auto outside = [&](const auto& w) {
        const auto inside = [&](const auto& q) { return product(q, w); };
        return dm::sum(w) + dm::value_and_grad(inside, inner)().value;
      };
      (void)dm::value_and_grad(outside, outer)();
    });
  };
  const auto product = [](const auto& a, const auto& b) { return dm::einsum<>(a, b); };
  const std::string plain = mixed(product);
  CHECK(says(plain, "einsum: "));
  CHECK(says(plain, two_passes));
  const std::string again =
      mixed([&product](const auto&... x) { return dm::recompute(product)(x...); });
  CHECK(says(again, "recompute: "));
  CHECK(says(again, two_passes));
  const auto stopped = [](const auto& a, const auto& b) {
    return dm::einsum<>(a, dm::stop_gradient(b));
  };
  CHECK(mixed(stopped).empty());
}

// A function with a written-out parameter is not tried on plain tensors first.
TEST_CASE("a value that only the outside reaches has no gradient inside") {
  const dm::grid<line> g;
  const auto inner = filled<whole>(g, 1), outer = filled<whole>(g, 2);
  using recorded = dm::tensor<double, dm::tracked<whole>, width>;
  const std::string said = complaint([&] {
    const auto outside = [&](const recorded& w) {
      const auto inside = [&w](const recorded&) { return dm::einsum<>(w, w); };
      return dm::sum(w) + dm::value_and_grad(inside, inner)().value;
    };
    (void)dm::value_and_grad(outside, outer)();
  });
  CHECK(says(said, "value_and_grad: the function's value is recorded outside"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of operations are values: what is done in place to one leaves all others as they are,
// whatever the sizes of axes, and however memory is shared.
// ranks: 1 2 4
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/clip.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>

#include <doctest/doctest.h>

#include <array>
#include <tuple>

#include "dimesh/reflect/clone.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;

struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
struct at : dm::dim<8> {};
struct batch : dm::dim<8> {};
struct label : dm::dim<4> {};

using whole = dm::tensor<float, dm::layout<line>, at>;
using cut = dm::tensor<float, dm::layout<line, dm::split<at, rows>>, at>;
using addends = dm::tensor<float, dm::layout<line, dm::partial<rows>>, at>;

template <class X> bool is_all(const X& x, float v) {
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    if (test_support::on_host(x)[i] != v) return false;
  return true;
}

TEST_CASE("in-place functions leave operands and copies alone") {
  const dm::grid<line> g;
  const cut x = dm::constant<cut>(g, 3);
  auto y = dm::all_gather<rows>(x);
  dm::fill(y, 7);
  CHECK(is_all(x, 3));
  CHECK(is_all(y, 7));

  const addends a = dm::constant<addends>(g, 3);
  const float mine = test_support::on_host(a)[0];
  for (int way = 0; way < 3; ++way) {
    auto sum = way == 0   ? dm::all_reduce<rows>(a)
               : way == 1 ? dm::complete(a)
                          : dm::whole<at>(dm::complete(a));
    CHECK(is_all(sum, 3));
    dm::rescale(sum, 2);
    CHECK(is_all(sum, 6));
    CHECK(is_all(a, mine));
  }

  const whole w = dm::constant<whole>(g, 3);
  auto same = dm::relayout<dm::layout<line>>(w);
  dm::fill_by(same, [](dm::index_t i) { return static_cast<float>(i); });
  CHECK(is_all(w, 3));
  auto copy = w;
  dm::clear(copy);
  CHECK(is_all(w, 3));
  copy = w;
  dm::fill_uniform(copy, dm::random_key{1}, 5, 6);
  CHECK(is_all(w, 3));
  copy = w;
  const std::array<float, 8> values{1, 1, 1, 1, 1, 1, 1, 1};
  dm::fill_from(copy, std::span<const float>(values));
  CHECK(is_all(w, 3));
  copy = w;
  dm::fill_block(copy, std::span<const float>(values));
  CHECK(is_all(w, 3));
  CHECK(is_all(copy, 1));
}

TEST_CASE("memory that nobody shares is written where it is") {
  const dm::grid<line> g;
  auto x = dm::constant<whole>(g, 3);
  const float* const before = x.data();
  dm::fill(x, 4);
  dm::rescale(x, 2);
  CHECK(x.data() == before);
  CHECK(is_all(x, 8));
}

TEST_CASE("complete of a tuple leaves its members as they are") {
  const dm::grid<line> g;
  addends x(g), y(g);
  for (int i = 0; i < 8; ++i) test_support::on_host(x)[i] = test_support::on_host(y)[i] = 1;
  const auto n = static_cast<float>(g.ranks());
  for (int times = 0; times < 2; ++times) {
    const auto [s, t] = dm::complete(std::tuple(x, y));
    CHECK(is_all(s, n));
    CHECK(is_all(t, n));
    CHECK(is_all(x, 1));
  }
  CHECK(is_all(dm::complete(y), n));
  const auto twice = dm::complete(std::array{x, x});
  CHECK(is_all(twice[0], n));
  CHECK(is_all(twice[1], n));
}

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, at>, a), (dm::tensor<float, L, at>, b),
                           (dm::tensor<float, L, label>, c));
};
using L = dm::layout<line>;
network<L> made(const dm::grid<line>& g) {
  return dm::build_tensors<network<L>>(
      [&g](const auto&, auto type) { return dm::constant<typename decltype(type)::type>(g, 1); });
}
/// Of a batch that is split, so that gradients are sums over ranks; c has no part in it.
auto loss_on(const dm::grid<line>& g) {
  using examples = dm::tensor<float, dm::layout<line, dm::split<batch, rows>>, batch, at>;
  return [x = dm::constant<examples>(g, 0.1f)](const auto& p) {
    return dm::sum(dm::square(dm::einsum<batch>(x, p.a) + dm::einsum<batch>(x, p.b)));
  };
}

TEST_CASE("clone: a snapshot of a tensor, of a struct, of a tuple") {
  const dm::grid<line> g;
  auto x = dm::constant<whole>(g, 3);
  const auto y = dm::clone(x);
  CHECK(y.data() != x.data());
  test_support::on_host(x)[0] = 1;  // written where it lies, which copies see and clones do not
  CHECK(is_all(y, 3));

  auto p = made(g);
  const auto best = dm::clone(p);
  test_support::on_host(p.b)[1] = 5;
  CHECK(is_all(best.b, 1));
  const auto pair = dm::clone(std::tuple(x, p));
  CHECK(test_support::on_host(std::get<0>(pair))[0] == 1);
  CHECK(test_support::on_host(std::get<1>(pair).b)[1] == 5);

  addends once(g);
  dm::fill(once, 2);
  CHECK(is_all(dm::complete(dm::clone(once)), 2));
  CHECK(!dm::clone(whole{}).defined());
}

TEST_CASE("optimizers: a copy of the parameters is a snapshot; in place where there is none") {
  const dm::grid<line> g;
  auto p = made(g);
  const float* const before = p.a.data();
  const auto f = loss_on(g);
  const auto step = [&](auto& optimizer, auto&... state) {
    auto [value, gradient] = dm::complete(dm::value_and_grad(f, p)());
    const float* const lies = gradient.a.data();
    dm::clip_by_global_norm(gradient, 0.5);
    CHECK(gradient.a.data() == lies);
    optimizer(p, gradient, state...);
  };
  dm::sgd plain{.rate = 0.01};
  step(plain);
  CHECK(p.a.data() == before);
  const auto best = p;
  const float was = test_support::on_host(p.a)[0];
  step(plain);
  CHECK(is_all(best.a, was));
  CHECK(test_support::on_host(p.a)[0] != was);

  const dm::adam adam;
  auto state = adam.start(p);
  const auto old = state;
  step(adam, state);
  for (dm::index_t i = 0; i < 8; ++i) CHECK(test_support::on_host(old.first.a)[i] == 0);
}

TEST_CASE("sharded optimizers: a copy of the parameters is a snapshot") {
  const dm::grid<line> g;
  auto p = made(g);
  const auto optimizer =
      dm::sharded<dm::layout<line, dm::spread<rows>>>(dm::momentum{.rate = 0.01});
  auto state = optimizer.start(p);
  const auto f = loss_on(g);
  const float* before = p.a.data();
  optimizer(p, dm::value_and_grad(f, p)().gradient, state);
  CHECK(p.a.data() == before);
  const auto best = p;
  const float was = test_support::on_host(p.a)[0];
  optimizer(p, dm::value_and_grad(f, p)().gradient, state);
  CHECK(is_all(best.a, was));
  CHECK(is_all(p.a, test_support::on_host(p.a)[0]));
  CHECK(test_support::on_host(p.a)[0] != was);
}

TEST_CASE("gradients: summed in place where nobody else holds them, and only there") {
  const dm::grid<line> g;
  const auto p = made(g);
  const auto f = loss_on(g);
  auto step = dm::value_and_grad(f, p)();
  const float* const at_first = step.gradient.a.data();
  auto kept = step.gradient;
  const float mine = test_support::on_host(kept.a)[0];
  const auto whole = dm::complete(std::move(step));
  CHECK(is_all(kept.a, mine));
  CHECK(test_support::on_host(whole.gradient.a)[0] == doctest::Approx(g.ranks() * mine));
  if (g.ranks() > 1) CHECK(whole.gradient.a.data() != at_first);

  auto next = dm::value_and_grad(f, p)();
  const float* const here = next.gradient.a.data();
  const auto sums = dm::complete(std::move(next));
  CHECK(sums.gradient.a.data() == here);
  CHECK(sums.value.memory().alone());
  CHECK(is_all(sums.gradient.a, test_support::on_host(whole.gradient.a)[0]));

  const auto same = dm::value_and_grad(f, p)();
  const auto mean = dm::accumulate(3, [&](dm::index_t) { return same; });  // three times one thing
  CHECK(test_support::on_host(dm::complete(mean.gradient).a)[0] ==
        doctest::Approx(test_support::on_host(sums.gradient.a)[0]));
  CHECK(is_all(same.gradient.a, mine));
}
}  // namespace

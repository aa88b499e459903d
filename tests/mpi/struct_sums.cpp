// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct is completed tensor by tensor: by the type of its elements, and over the grid and axes
// of each.
// ranks: 1 2 4
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/grad/complete.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/clip.hpp>

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"
#include "dimesh/reflect/clone.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;
using dm::index_t;

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct line : dm::mesh<rows> {};
struct plane : dm::mesh<rows, cols> {};
struct at : dm::dim<3> {};
struct items : dm::dim<> {};

template <class T, class M, class A>
using addends = dm::tensor<T, dm::layout<M, dm::partial<A>>, at>;

/// Its value on this rank: three addends, from a value that other types would read wrongly.
template <class X> X held(const typename X::grid_type& g, dm::value_of<X> first, int rank) {
  using T = dm::value_of<X>;
  X x(g);
  for (int i = 0; i < 3; ++i)
    test_support::on_host(x)[i] = static_cast<T>(first + static_cast<T>(float(i + rank)));
  return x;
}
template <class Y, class T> void check_sums(const Y& y, T first, int ranks) {
  using V = dm::value_of<Y>;
  for (int i = 0; i < 3; ++i) {
    T sum = first + static_cast<T>(float(i));
    for (int r = 1; r < ranks; ++r)
      sum = static_cast<T>(sum + static_cast<T>(first + static_cast<T>(float(i + r))));
    CHECK(V(test_support::on_host(y)[i]) == V(sum));
  }
}

template <class T> void check_type(const dm::grid<line>& g, T first) {
  using X = addends<T, line, rows>;
  using F = addends<float, line, rows>;
  const int ranks = g.ranks(), me = g.rank();
  const auto x = held<X>(g, first, me);
  const auto f = held<F>(g, 0.5f, me);
  const auto [y, z] = dm::complete(std::tuple(x, f));
  check_sums(y, first, ranks);
  check_sums(z, 0.5f, ranks);
  const auto alone = dm::complete(std::array{x, x});  // two of one type: packed, or side by side
  check_sums(alone[0], first, ranks);
  check_sums(alone[1], first, ranks);
}

TEST_CASE("complete: tuples of every type that has a sum") {
  const dm::grid<line> g;
  check_type<std::int8_t>(g, -3);
  check_type<std::int16_t>(g, -300);
  check_type<std::int32_t>(g, -3);
  check_type<std::int32_t>(g, 1 << 25);
  check_type<std::int64_t>(g, -3);
  check_type<std::int64_t>(g, std::int64_t{1} << 60);
  check_type<std::uint8_t>(g, 40);
  check_type<std::uint16_t>(g, 300);
  check_type<std::uint32_t>(g, 1u << 29);
  check_type<std::uint64_t>(g, std::uint64_t{1} << 60);
  check_type<float>(g, 1.5f);
  check_type<double>(g, 1.5);
  check_type<long double>(g, 1.5L);
  check_type<std::complex<float>>(g, {1.5f, -2});
  check_type<std::complex<double>>(g, {1.5, -2});
}

TEST_CASE("complete: numbers of two bytes beside one another, and bool, which stays") {
  const dm::grid<line> g;
  const int ranks = g.ranks();
  addends<dm::bfloat16, line, rows> brain(g);
  addends<dm::half, line, rows> half(g);
  addends<std::int16_t, line, rows> whole(g);
  dm::tensor<bool, dm::layout<line>, at> flags(g);
  for (int i = 0; i < 3; ++i) {
    test_support::on_host(brain)[i] = dm::bfloat16(1.5);
    test_support::on_host(half)[i] = dm::half(1.25);
    test_support::on_host(whole)[i] = -5;
    test_support::on_host(flags)[i] = i != 1;
  }
  const auto [f, h, w, b] = dm::complete(std::tuple(brain, half, whole, flags));
  for (int i = 0; i < 3; ++i) {
    CHECK(float(test_support::on_host(f)[i]) == 1.5f * float(ranks));
    CHECK(float(test_support::on_host(h)[i]) == 1.25f * float(ranks));
    CHECK(test_support::on_host(w)[i] == -5 * ranks);
    CHECK(test_support::on_host(b)[i] == (i != 1));
  }
}

TEST_CASE("complete: counts of right answers beside the loss") {
  const dm::grid<line> g;
  using labels = dm::tensor<int, dm::layout<line, dm::split<items, rows>>, items>;
  labels found(g, items{8}), right(g, items{8});
  dm::fill_by(found, [](index_t i) { return static_cast<int>(i); });
  dm::fill_by(right, [](index_t i) { return static_cast<int>(i / 2 * 2); });
  dm::tensor<float, dm::layout<line, dm::split<items, rows>>, items> losses(g, items{8});
  dm::fill(losses, 0.25f);
  const auto [count, loss] = dm::complete(std::tuple(dm::sum(found == right), dm::sum(losses)));
  CHECK(dm::value(count) == 4);
  CHECK(dm::value(loss) == 2);
}

// Two meshes whose axes have the same places: what is said of one must not reach the other.
struct a : dm::axis<> {};
struct b : dm::axis<> {};
struct c : dm::axis<> {};
struct d : dm::axis<> {};
struct dense : dm::mesh<a, b> {};
struct expert : dm::mesh<c, d> {};

TEST_CASE("complete: each tensor over the axes of its own grid") {
  const int ranks = dm::grid<line>().ranks();
  const dm::grid<dense> g(a{1}, b{ranks});
  const dm::grid<expert> h(c{ranks}, d{1});
  addends<float, dense, b> x(g);
  addends<float, expert, c> y(h);
  addends<float, expert, d> z(h);  // the same place as b, and nobody to add anything
  for (int i = 0; i < 3; ++i)
    test_support::on_host(x)[i] = test_support::on_host(y)[i] = test_support::on_host(z)[i] = 1;
  for (const bool turned : {false, true}) {
    const auto check = [&](const auto& v, const auto& w, const auto& u) {
      for (int i = 0; i < 3; ++i) {
        CHECK(test_support::on_host(v)[i] == float(ranks));
        CHECK(test_support::on_host(w)[i] == float(ranks));
        CHECK(test_support::on_host(u)[i] == 1);
      }
    };
    if (turned) {
      const auto [u, w, v] = dm::complete(std::tuple(z, y, x));
      check(v, w, u);
    } else {
      const auto [v, w, u] = dm::complete(std::tuple(x, y, z));
      check(v, w, u);
    }
  }
}

TEST_CASE("complete: two grids of one mesh over different ranks") {
  const dm::grid<line> all;
  const dm::grid<line> alone(MPI_COMM_SELF);
  addends<double, line, rows> x(all), y(alone);
  for (int i = 0; i < 3; ++i) test_support::on_host(x)[i] = test_support::on_host(y)[i] = 1;
  const auto [s, t] = dm::complete(std::tuple(x, y));
  const auto [u, v] = dm::complete(std::tuple(y, x));
  CHECK(test_support::on_host(s)[0] == all.ranks());
  CHECK(test_support::on_host(t)[0] == 1);
  CHECK(test_support::on_host(u)[0] == 1);
  CHECK(test_support::on_host(v)[0] == all.ranks());
}

TEST_CASE("complete: a tensor that this rank has no part in stays so") {
  const dm::grid<line> g;
  addends<float, line, rows> x(g), nothing;
  for (int i = 0; i < 3; ++i) test_support::on_host(x)[i] = 1;
  const auto [y, none] = dm::complete(std::tuple(x, nothing));
  CHECK(test_support::on_host(y)[2] == float(g.ranks()));
  CHECK(!none.defined());
}

TEST_CASE("global_norm: each tensor over the axes of its own grid") {
  const int ranks = dm::grid<line>().ranks();
  const dm::grid<dense> g(a{1}, b{ranks});
  const dm::grid<expert> h(c{ranks}, d{1});
  using X = dm::tensor<float, dm::layout<dense, dm::split<items, b>>, items>;
  using Y = dm::tensor<float, dm::layout<expert, dm::split<items, c>>, items>;
  const std::tuple gradients{dm::constant<X>(g, 2, items{8}), dm::constant<Y>(h, 1, items{4})};
  CHECK(dm::global_norm(gradients) == doctest::Approx(6));

  using P = dm::tensor<float, dm::layout<dense, dm::partial<b>>, items>;
  using Q = dm::tensor<double, dm::layout<expert, dm::partial<c>>, items>;
  P p(g, items{8});
  Q q(h, items{4});
  for (dm::index_t i = 0; i < 8; ++i) test_support::on_host(p)[i] = float(i);
  for (dm::index_t i = 0; i < 4; ++i) test_support::on_host(q)[i] = 1;
  const auto [r, s] = dm::complete(std::tuple(p, q));
  CHECK(test_support::on_host(r)[7] == 7 * float(ranks));
  CHECK(test_support::on_host(s)[3] == ranks);
}

TEST_CASE("adafactor: parameters on two grids take the steps that they would take alone") {
  const int ranks = dm::grid<line>().ranks();
  const dm::grid<dense> g(a{1}, b{ranks});
  const dm::grid<expert> h(c{ranks}, d{1});
  using X = dm::tensor<float, dm::layout<dense, dm::split<items, b>>, items, at>;
  using Y = dm::tensor<float, dm::layout<expert, dm::split<items, c>>, items, at>;
  const auto value = [](index_t i, index_t j) { return 0.25f * float(i) - 0.5f * float(j) + 0.1f; };
  std::tuple both{dm::generate<X>(g, value, items{8}), dm::generate<Y>(h, value, items{4})};
  auto [x, y] = dm::clone(both);
  const dm::adafactor optimizer{.beta1 = 0.5};
  auto state = optimizer.start(both);
  auto state_x = optimizer.start(x);
  auto state_y = optimizer.start(y);
  for (int step = 0; step < 2; ++step) {
    optimizer(both, dm::clone(both), state);
    optimizer(x, dm::clone(x), state_x);
    optimizer(y, dm::clone(y), state_y);
  }
  for (index_t i = 0; i < x.local_size(); ++i)
    CHECK(test_support::on_host(x)[i] ==
          doctest::Approx(test_support::on_host(std::get<0>(both))[i]));
  for (index_t i = 0; i < y.local_size(); ++i)
    CHECK(test_support::on_host(y)[i] ==
          doctest::Approx(test_support::on_host(std::get<1>(both))[i]));
}

// Gradients of 40 and of 400 bytes and a loss of 4, side by side with gaps between them.
struct wide : dm::dim<10> {};
struct tall : dm::dim<10> {};
template <class L> struct pair {
  BOOST_HANA_DEFINE_STRUCT(pair, (dm::tensor<float, L, wide>, b),
                           (dm::tensor<float, L, tall, wide>, w));
};
struct weighed_sums {
  template <class P, class X> auto operator()(const P& p, const X& x) const {
    return dm::sum(x) * (dm::sum(p.b) + dm::sum(p.w) * 2.0f);
  }
};
using records = dm::tensor<float, dm::layout<line, dm::split<items, rows>>, items>;

enum class copied { nothing, b, w, loss, gradients, all };
constexpr copied all_copies[]{copied::nothing, copied::b,         copied::w,
                              copied::loss,    copied::gradients, copied::all};
enum class then { only_sums, adds, scales };

/// The sums of a step, while one rank alone holds copies of some of its addends: what is sent is
/// the same on all ranks, and the copies keep their values.
void check_with_copies(const dm::grid<line>& g, int holder, copied what, then before) {
  auto p = dm::make<pair<dm::layout<line>>>(g);
  dm::fill(p.b, 1.0f);
  dm::fill(p.w, 0.5f);
  const auto x = dm::generate<records>(g, [](index_t i) { return float(i + 1); }, items{8});
  using step_type = decltype(dm::value_and_grad(weighed_sums{}, p)(x));
  std::vector<decltype(step_type::gradient.b)> kept_b;
  std::vector<decltype(step_type::gradient.w)> kept_w;
  std::vector<decltype(step_type::value)> kept_loss;
  const auto one_batch = [&](index_t i) {
    auto step = dm::value_and_grad(weighed_sums{}, p)(x);
    if (i > 0 || g.rank() != holder) return step;
    const bool two = what == copied::gradients || what == copied::all;
    if (two || what == copied::b) kept_b.push_back(step.gradient.b);
    if (two || what == copied::w) kept_w.push_back(step.gradient.w);
    if (what == copied::loss || what == copied::all) kept_loss.push_back(step.value);
    return step;
  };
  auto step = before == then::adds ? dm::accumulate(2, one_batch) : one_batch(0);
  if (before == then::scales) dm::rescale(step.gradient, 0.5);
  const auto whole = dm::complete(std::move(step));
  const float times = before == then::scales ? 0.5f : 1.0f;
  CHECK(dm::value(whole.value) == 36 * 110);
  for (int i = 0; i < 10; ++i) CHECK(test_support::on_host(whole.gradient.b)[i] == 36 * times);
  for (int i = 0; i < 100; ++i) CHECK(test_support::on_host(whole.gradient.w)[i] == 72 * times);

  float mine = 0;
  for (index_t i = 0; i < x.local_size(); ++i) mine += test_support::on_host(x)[i];
  for (const auto& b : kept_b)
    for (int i = 0; i < 10; ++i) CHECK(test_support::on_host(b)[i] == mine);
  for (const auto& w : kept_w)
    for (int i = 0; i < 100; ++i) CHECK(test_support::on_host(w)[i] == 2 * mine);
  for (const auto& loss : kept_loss) CHECK(*test_support::on_host(loss) == mine * 110);
}

TEST_CASE("complete: one rank holds copies of addends that are given up") {
  const dm::grid<line> g;
  for (const int holder : {0, g.ranks() - 1})
    for (const copied what : all_copies)
      for (const then before : {then::only_sums, then::adds, then::scales})
        check_with_copies(g, holder, what, before);
}
}  // namespace

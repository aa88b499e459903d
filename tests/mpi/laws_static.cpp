// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 4
// checks: 377
// options: -O1
// The same laws where the compiler knows extents and axes: static blocks and strides, the uneven
// ones that it does not know, axes of size 1, more ranks than elements, costs as constants.
#include "dimesh/op/einsum.hpp"

#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/whole.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct solo : dm::axis<1> {};
struct square : dm::mesh<rows, cols> {};
struct slab : dm::mesh<rows, solo, cols> {};

struct eight : dm::dim<8> {};
struct four : dm::dim<4> {};
struct twelve : dm::dim<12> {};
struct seven : dm::dim<7> {};
struct three : dm::dim<3> {};
struct one : dm::dim<1> {};
struct none : dm::dim<0> {};

using dm::detail::list;

template <class... D> array array_of(std::uint64_t seed) {
  return numbers({std::string(dm::detail::name_of<D>())...}, {D::extent...}, seed);
}

/// Calls f(tag<L>) for the legal layouts of dims A, B, C on the square.
template <layout_choice Choice, class A, class B, class C, class F> void for_each_program(F&& f) {
  for_all_layouts<square, list<A, B, C>, Choice>([&](auto t) {
    INFO("layout ", std::string(dm::detail::spelled<typename decltype(t)::type>()));
    f(t);
  });
}

/// A product, a function of it, a sum, a movement: in float and double.
template <class T, class L, class A, class B, class C>
void check_program(const dm::grid<typename L::mesh>& g) {
  const array a = array_of<A, B>(1), b = array_of<B, C>(2), c = array_of<C>(3);
  const auto x = scattered<dm::tensor<T, L, A, B>>(g, a);
  const auto w = scattered<dm::tensor<T, L, B, C>>(g, b);
  const auto v = scattered<dm::tensor<T, L, C>>(g, c);
  const auto product = dm::complete(dm::einsum<A, C>(x, w));
  const array want = einsum({a.dims[0], b.dims[1]}, {a, b});
  CHECK(agrees(product, want));
  const auto positive = [](const std::vector<double>& u) { return std::max(0.0, u[0] + u[1]); };
  const auto y = dm::map([](auto i, auto j) { return dm::relu(i + j); }, product, v);
  CHECK(agrees(y, map(positive, {want, c})));
  CHECK(agrees(dm::sum<A>(y), sum({b.dims[1]}, map(positive, {want, c}))));
  CHECK(agrees(dm::whole<C>(y), map(positive, {want, c})));
  const auto f = [](const auto& i, const auto& j, const auto& k) {
    return dm::square(dm::complete(dm::einsum<A, C>(i, j)) - k);
  };
  CHECK(costs_as_foreseen(f, x, w, v));
}

TEST_CASE("extents that divide: double and float") {
  const dm::grid<square> g;
  for_each_program<evenly, eight, four, twelve>([&](auto t) {
    using L = typename decltype(t)::type;
    check_program<double, L, eight, four, twelve>(g);
    check_program<float, L, eight, four, twelve>(g);
  });
}

TEST_CASE("extents that do not divide, of one element, and none at all") {
  const dm::grid<square> g;
  for_each_program<layout_choice{.uneven = true, .stride = 2}, seven, three, one>(
      [&](auto t) { check_program<float, typename decltype(t)::type, seven, three, one>(g); });
  for_each_program<layout_choice{.uneven = true, .stride = 2, .first = 1}, three, none, seven>(
      [&](auto t) { check_program<double, typename decltype(t)::type, three, none, seven>(g); });
}

TEST_CASE("an axis of size 1 changes types, never values, and nobody talks along it") {
  const dm::grid<slab> g;
  using L = dm::layout<slab, dm::split<eight, rows, solo>, dm::split<four, cols>>;
  check_program<double, L, eight, four, twelve>(g);
  using M = dm::layout<slab, dm::split<four, solo>>;
  check_program<double, M, eight, four, seven>(g);
  const auto x = scattered<dm::tensor<double, M, eight, four>>(g, array_of<eight, four>(1));
  census::reset();
  const auto y = dm::whole<four>(x);
  CHECK(y.data() == x.data());
  CHECK(dm::complete(dm::sum<four>(x)).defined());
  CHECK(census::snapshot().calls() == 0);
}

TEST_CASE("adjoints with static extents") {
  const dm::grid<square> g;
  for_each_program<layout_choice{.stride = 4, .first = 1}, eight, four, twelve>([&](auto t) {
    using L = typename decltype(t)::type;
    const array a = array_of<eight, four>(1), b = array_of<four, twelve>(2),
                c = array_of<twelve>(3);
    const auto f = [](const auto& i, const auto& j, const auto& k) {
      return dm::complete(dm::einsum<eight, twelve>(i, j)) + k;
    };
    check_operation(f, {}, {a, b, c}, scattered<dm::tensor<double, L, eight, four>>(g, a),
                    scattered<dm::tensor<double, L, four, twelve>>(g, b),
                    scattered<dm::tensor<double, L, twelve>>(g, c));
  });
}

// ---- the cost is a constant, and what happens ---------------------------------------------------

struct layer {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    return dm::complete(dm::einsum<eight, twelve>(x, w));
  }
};
using inner = dm::layout<square, dm::split<eight, rows>, dm::split<four, cols>>;
constexpr auto cost = dm::cost_of<layer, dm::tensor<float, dm::shaped<inner>, eight, four>,
                                  dm::tensor<float, dm::shaped<inner>, four, twelve>>;
static_assert(cost.bytes<cols> == 4 * 12 * sizeof(float) && cost.bytes<rows> == 0);
static_assert(cost.ring_bytes<cols> == 4 * 12 * sizeof(float));  // 2 (n-1)/n of it
static_assert(cost.calls<> == 1 && cost.flops >= 2 * 4 * 2 * 12);

TEST_CASE("the constant is what MPI sees") {
  const dm::grid<square> g;
  const auto x = scattered<dm::tensor<float, inner, eight, four>>(g, array_of<eight, four>(1));
  const auto w = scattered<dm::tensor<float, inner, four, twelve>>(g, array_of<four, twelve>(2));
  census::reset();
  (void)layer{}(x, w);
  const auto seen = census::snapshot();
  CHECK(seen.bytes_on(2) == cost.bytes<cols>);
  CHECK(seen.calls() == cost.calls<>);
}

TEST_CASE("spread: parameters over every rank that divides them, the same values") {
  const dm::grid<square> g;
  using zero = dm::layout<square, dm::spread<rows>, dm::spread<cols>>;
  const array a = array_of<seven, twelve>(1);
  const auto x = scattered<dm::tensor<float, zero, seven, twelve>>(g, a);
  CHECK(x.local_size() == 7 * 3);
  CHECK(agrees(x, a));
  CHECK(agrees(dm::whole<twelve>(x), a));
  CHECK(agrees(dm::relayout<zero>(dm::whole<twelve>(x)), a));
}

}  // namespace

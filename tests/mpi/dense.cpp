// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 34 34 34
// labels: local device
// Products under a compute layout: whatever the layouts of operands and of the result, the values
// are right, the result is under the compute layout, and the transposes and bytes as foreseen.
#include "dimesh/nn/dense.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace nn = dimesh::nn;

using by_p = dm::layout<line, dm::split<dm::uneven<p>, x>>;
using by_q = dm::layout<line, dm::split<dm::uneven<q>, x>>;
using by_r = dm::layout<line, dm::split<dm::uneven<r>, x>>;
using whole = dm::layout<line>;
/// Sequence parallelism: p is split wherever r need not be.
using yielding = dm::layout<line, dm::split<dm::uneven<r>, x>, dm::split_if_free<dm::uneven<p>, x>>;

const array a = numbers({"p", "q"}, {5, 4}, 1), w = numbers({"q", "r"}, {4, 3}, 2),
            b = numbers({"r"}, {3}, 3);

template <class C, class LX, class LW> void check_project(const dm::grid<line>& g) {
  const auto u = scattered<dm::tensor<double, LX, p, q>>(g, a);
  const auto v = scattered<dm::tensor<double, LW, q, r>>(g, w);
  const auto f = [](const auto& s, const auto& t) { return nn::project(nn::model<C>(), s, t); };
  static_assert(std::is_same_v<decltype(f(u, v)), dm::tensor<double, C, p, r>>);
  CHECK(agrees(f(u, v), einsum({"p", "r"}, {a, w})));
  check_operation(f, {}, {a, w}, u, v);
}

TEST_CASE("project: operands and result under different layouts") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    check_project<whole, whole, by_q>(g);
    check_project<by_p, by_p, by_r>(g);
    check_project<by_q, by_q, by_q>(g);
    check_project<by_r, by_q, whole>(g);
    check_project<yielding, yielding, yielding>(g);
  });
}

/// What is under the compute layout already, in its element type, is passed on as it is.
template <class C, class LX, class LW, class Model = nn::model<C>>
constexpr bool is_passed_on = std::is_lvalue_reference_v<decltype(nn::detail::brought_to(
    std::declval<const Model&>(), std::declval<const dm::tensor<double, LX, p, q>&>(),
    std::declval<const dm::tensor<double, LW, q, r>&>()))>;
static_assert(is_passed_on<whole, whole, whole> && !is_passed_on<by_p, by_p, by_q>);
static_assert(is_passed_on<by_r, whole, by_r> && !is_passed_on<by_r, whole, whole>);
using in_order = dm::tensor<double, by_p, p, q>;
template <class... Out>
using permuted =
    decltype(dm::detail::permuted<dm::detail::list<Out...>>(std::declval<const in_order&>()));
static_assert(std::is_same_v<permuted<p, q>, const in_order&>);
static_assert(std::is_same_v<permuted<q, p>, dm::tensor<double, by_p, q, p>>);

TEST_CASE("a split that gives way: gathered before one product, scattered after the next") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto u = scattered<dm::tensor<double, yielding, p, q>>(g, a);
    const auto v = scattered<dm::tensor<double, yielding, q, r>>(g, w);
    const auto f = [](const auto& s, const auto& t) {
      constexpr nn::model<yielding> m;
      return nn::project(m, nn::project(m, s, t), t);
    };
    static_assert(std::is_same_v<decltype(nn::project(nn::model<yielding>(), u, v)),
                                 dm::tensor<double, by_r, p, r>>);
    static_assert(std::is_same_v<decltype(f(u, v)), dm::tensor<double, by_p, p, q>>);
    CHECK(agrees(f(u, v), einsum({"p", "q"}, {einsum({"p", "r"}, {a, w}), w})));
    check_operation(f, smooth, {a, w}, u, v);
  });
}

double gelu(double v) {
  return v / (1 + std::exp(-1.5957691216057308 * (v + 0.044715 * v * v * v)));
}

TEST_CASE("dense, gated, residual") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    constexpr nn::model<by_r> m;
    const array z = einsum({"p", "r"}, {a, w});
    const auto u = scattered<dm::tensor<double, by_r, p, q>>(g, a);
    const auto v = scattered<dm::tensor<double, by_r, q, r>>(g, w);
    const auto c = scattered<dm::tensor<double, whole, r>>(g, b);
    const auto act = [](const std::vector<double>& s) { return gelu(s[0] + s[1]); };
    CHECK(agrees(nn::dense(m, nn::gelu_activation{}, u, v, c), map(act, {z, b}), 1e-12));
    CHECK(agrees(nn::dense(m, nn::relu_activation{}, u, v),
                 map([](const std::vector<double>& s) { return std::max(0.0, s[0]); }, {z})));
    CHECK(agrees(nn::gated(m, nn::gelu_activation{}, u, v, v),
                 map([](const std::vector<double>& s) { return gelu(s[0]) * s[0]; }, {z}), 1e-12));
    const auto y = nn::project(m, u, v);
    CHECK(agrees(nn::residual(m, y, y, c),
                 map([](const std::vector<double>& s) { return 2 * s[0] + s[1]; }, {z, b})));
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if a function for map says std::exp, or std::max(x, 0.0f)? Of plain numbers these are the
// standard's; of dual numbers they are those of local/dual.hpp, so that a gradient goes through
// them. What is not among these has no derivative here, and says so.
//
//   std::exp(dual)  -> dimesh::exp(dual)     std::erf(dual)  -> derivative_not_known
//
// The standard leaves no room for overloads in its namespace; a name that is qualified is found
// nowhere else, and libraries of dual numbers all put theirs here. Each ends in a pack, which is
// empty: where a name is found by its argument, too (`using std::exp; exp(v)`), dimesh's is then
// the more special one.
#pragma once

#include <algorithm>
#include <cmath>

#include "dimesh/local/dual.hpp"

namespace dimesh::detail {

/// In place of a function of <cmath> without a derivative.
template <class D> auto no_derivative(const D& x) {
  static_assert(ok<std::conditional_t<std::is_void_v<D>, no_fault, derivative_not_known<D>>>,
                "map: gradients do not know the derivative of this function of <cmath>; compose it "
                "of those of dm, or attach one by with_transpose");
  return x;
}

}  // namespace dimesh::detail

namespace std {

template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto exp(const dimesh::dual<T, N>& x, None...) {
  return dimesh::exp(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto log(const dimesh::dual<T, N>& x, None...) {
  return dimesh::log(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto log1p(const dimesh::dual<T, N>& x, None...) {
  return dimesh::log1p(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto tanh(const dimesh::dual<T, N>& x, None...) {
  return dimesh::tanh(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto sqrt(const dimesh::dual<T, N>& x, None...) {
  return dimesh::sqrt(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto sin(const dimesh::dual<T, N>& x, None...) {
  return dimesh::sin(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto cos(const dimesh::dual<T, N>& x, None...) {
  return dimesh::cos(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto floor(const dimesh::dual<T, N>& x, None...) {
  return dimesh::floor(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto abs(const dimesh::dual<T, N>& x, None...) {
  return dimesh::abs(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto fabs(const dimesh::dual<T, N>& x, None...) {
  return dimesh::abs(x);
}
template <class T, int N, class... None>
KOKKOS_FORCEINLINE_FUNCTION auto pow(const dimesh::dual<T, N>& x, const dimesh::dual<T, N>& y,
                                     None...) {
  return dimesh::pow(x, y);
}
template <class T, int N, class Y, class... None>
  requires std::is_arithmetic_v<Y>
KOKKOS_FORCEINLINE_FUNCTION auto pow(const dimesh::dual<T, N>& x, const Y& y, None...) {
  return dimesh::pow(x, y);
}
template <class T, int N, class X, class... None>
  requires std::is_arithmetic_v<X>
KOKKOS_FORCEINLINE_FUNCTION auto pow(const X& x, const dimesh::dual<T, N>& y, None...) {
  return dimesh::pow(x, y);
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION auto max(const dimesh::dual<T, N>& x, const dimesh::dual<T, N>& y) {
  return dimesh::maximum(x, y);
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION auto min(const dimesh::dual<T, N>& x, const dimesh::dual<T, N>& y) {
  return dimesh::minimum(x, y);
}
template <class T, int N, class Y>
  requires std::is_arithmetic_v<Y>
KOKKOS_FORCEINLINE_FUNCTION auto max(const dimesh::dual<T, N>& x, const Y& y) {
  return dimesh::maximum(x, y);
}
template <class X, class T, int N>
  requires std::is_arithmetic_v<X>
KOKKOS_FORCEINLINE_FUNCTION auto max(const X& x, const dimesh::dual<T, N>& y) {
  return dimesh::maximum(x, y);
}
template <class T, int N, class Y>
  requires std::is_arithmetic_v<Y>
KOKKOS_FORCEINLINE_FUNCTION auto min(const dimesh::dual<T, N>& x, const Y& y) {
  return dimesh::minimum(x, y);
}
template <class X, class T, int N>
  requires std::is_arithmetic_v<X>
KOKKOS_FORCEINLINE_FUNCTION auto min(const X& x, const dimesh::dual<T, N>& y) {
  return dimesh::minimum(x, y);
}
template <class T, int N, dimesh::Scalar Y>
KOKKOS_FORCEINLINE_FUNCTION auto fmax(const dimesh::dual<T, N>& x, const Y& y) {
  return dimesh::maximum(x, y);
}
template <class T, int N, dimesh::Scalar Y>
KOKKOS_FORCEINLINE_FUNCTION auto fmin(const dimesh::dual<T, N>& x, const Y& y) {
  return dimesh::minimum(x, y);
}
template <class T, int N, class Lo, class Hi>
  requires(std::is_arithmetic_v<Lo> && std::is_arithmetic_v<Hi>)
KOKKOS_FORCEINLINE_FUNCTION auto clamp(const dimesh::dual<T, N>& x, const Lo& lo, const Hi& hi) {
  return dimesh::minimum(dimesh::maximum(x, lo), hi);
}
/// A number is none where it is not itself: a comparison like any other.
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION auto isnan(const dimesh::dual<T, N>& x) {
  return !(x == x);
}

template <class T, int N> auto erf(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto tan(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto atan(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto asin(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto acos(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto sinh(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto cosh(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto cbrt(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto exp2(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto log2(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto log10(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto expm1(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto ceil(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto round(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto trunc(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto isfinite(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N> auto isinf(const dimesh::dual<T, N>& x) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N, class Y> auto hypot(const dimesh::dual<T, N>& x, const Y&) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N, class Y> auto atan2(const dimesh::dual<T, N>& x, const Y&) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N, class Y> auto fmod(const dimesh::dual<T, N>& x, const Y&) {
  return dimesh::detail::no_derivative(x);
}
template <class T, int N, class Y> auto copysign(const dimesh::dual<T, N>& x, const Y&) {
  return dimesh::detail::no_derivative(x);
}

}  // namespace std

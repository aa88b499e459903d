// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which scalar functions are other ones left and right of zero, or jump at each multiple of a
// number? These; to be used inside map as those of local/math.hpp are, branch-free but for mod.
//
//   elu(-1.0f) -> -0.632f     sign(-3) -> -1     floor_div(-7, 2) -> -4     mod(-7, 2) -> 1
//
// Errors for float and double, in units in the last place: elu, selu <= 8.
// Conventions: at 0, elu and selu have the derivative from above, leaky_relu that from below.
#pragma once

#include "dimesh/local/dual.hpp"

namespace dimesh {

namespace detail {

/// e^x - 1 where x is below 0, else 0; right for small x.
template <Number T> KOKKOS_FORCEINLINE_FUNCTION T exp_less_one(T x) {
  const T t = dimesh::tanh(dimesh::minimum(x, T(0)) / T(2));
  return T(2) * t / (T(1) - t);
}
/// The derivative of left (e^x - 1) where x is below 0, else that of right x.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION T slope_of_exp(const dual<T, N>& x, double left, double right) {
  const T e = T(left) * dimesh::exp(dimesh::minimum(x.value, T(0)));
  return dimesh::select(x.value < T(0), e, T(right));
}

inline constexpr double selu_scale = 1.0507009873554804934;
inline constexpr double selu_left = 1.7580993408473768599;  // the scale times 1.6732632423543772848

}  // namespace detail

/// x where it is not below 0, else e^x - 1 (Clevert et al., arXiv:1511.07289)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto elu(T x) {
  using R = detail::real_t<T>;
  return dimesh::select(R(x) < R(0), detail::exp_less_one(R(x)), R(x));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> elu(const dual<T, N>& x) {
  return detail::chain(x, T(dimesh::elu(x.value)), detail::slope_of_exp(x, 1, 1));
}

/// 1.0507 times x where it is not below 0, else times 1.6733 (e^x - 1): activations stay of mean 0
/// and variance 1 (Klambauer et al., arXiv:1706.02515)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto selu(T x) {
  using R = detail::real_t<T>;
  return dimesh::select(R(x) < R(0), R(detail::selu_left) * detail::exp_less_one(R(x)),
                        R(detail::selu_scale) * R(x));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> selu(const dual<T, N>& x) {
  return detail::chain(x, T(dimesh::selu(x.value)),
                       detail::slope_of_exp(x, detail::selu_left, detail::selu_scale));
}

/// x where it is above 0, else slope times x, in the type that x is computed in
template <Scalar T, Number S> KOKKOS_FORCEINLINE_FUNCTION auto leaky_relu(T x, S slope) {
  using R = detail::real_t<T>;
  return dimesh::select(x > T(0), R(x), R(slope) * R(x));
}

/// -1, 0 or 1, of the type of x; NaN stays NaN. The derivative is 0.
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION T sign(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(x != T(0));
  else
    return dimesh::select(x > T(0), T(1), dimesh::select(x < T(0), T(-1), x));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> sign(const dual<T, N>& x) {
  return T(dimesh::sign(x.value));
}

/// The greatest whole number that is not above x / y, which for floating-point numbers is rounded
/// first: of 1.0 and 0.1 it is 10. Of whole numbers it is 0 where y is 0. The derivatives are 0.
template <Number X, Number Y> KOKKOS_FORCEINLINE_FUNCTION auto floor_div(X x, Y y) {
  using C = decltype(x + y);
  const C a = C(x), b = C(y);
  if constexpr (std::is_unsigned_v<C>) {
    return detail::quotient(a, b);
  } else if constexpr (std::is_integral_v<C>) {
    const C d = detail::safe_divisor(b);
    return detail::quotient(a, b) - static_cast<C>((a % d != 0) & ((a < 0) != (d < 0)));
  } else {
    return dimesh::floor(a / b);
  }
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D floor_div(const X& x, const Y& y) {
  return D(dimesh::floor_div(D(x).value, D(y).value));
}

/// What the exact quotient's floor leaves of x: 0, or of the sign of y and smaller than y, before
/// it is rounded: of -1e-20 and 1.0 it is 1. Of whole numbers it is 0 where y is 0. The derivative
/// by x is 1, that by y -floor_div(x, y).
template <Number X, Number Y> KOKKOS_FORCEINLINE_FUNCTION auto mod(X x, Y y) {
  using C = decltype(x + y);
  const C a = C(x), b = C(y);
  if constexpr (std::is_unsigned_v<C>) {
    return a % detail::safe_divisor(b);
  } else if constexpr (std::is_integral_v<C>) {
    const C r = a % detail::safe_divisor(b);
    const bool other = (r != 0) & ((r < 0) != (b < 0));
    return other ? r + b : r;
  } else {
    using std::fmod;
    const C r = fmod(a, b);
    return dimesh::select((r != C(0)) & ((r < C(0)) != (b < C(0))), r + b, r);
  }
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D mod(const X& x, const Y& y) {
  const D a(x), b(y);
  using T = decltype(a.value);
  return detail::chain(a, b, T(dimesh::mod(a.value, b.value)), T(1),
                       T(-dimesh::floor_div(a.value, b.value)));
}

}  // namespace dimesh

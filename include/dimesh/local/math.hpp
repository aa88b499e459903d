// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which scalar functions may be used inside map? These: branch-free, so that the compiler turns a
// loop over them into vector code without -ffast-math, and differentiable (local/dual.hpp).
//
//   exp(1.0f) -> float     exp(1) -> double, as in <cmath>     maximum(1, 2.5f) -> float
//
// Errors for float and double, in units in the last place: exp, log, sqrt, rsqrt <= 2; sigmoid,
// tanh, log1p, softplus <= 4; silu, gelu <= 6, gelu also what its exponent lost; pow(float) <= 1.
// sigmoid, silu and gelu may flush to 0 what is below 128 times the least normal number. sin, cos
// and pow(double) are those of <cmath>.
#pragma once

#include "dimesh/local/elementary.hpp"

#include <type_traits>

namespace dimesh {

/// Types that count as one number in the functions below; specialise it to opt a type in. A type
/// opted in brings its own exp, log, tanh, sqrt, ... where they are used.
template <class T> inline constexpr bool is_scalar = std::is_arithmetic_v<T>;

template <class T> concept Scalar = is_scalar<T>;

/// Scalars that carry derivatives with them have overloads of their own.
template <class T> inline constexpr bool is_dual = false;

template <class T> concept Number = Scalar<T> && !is_dual<T>;

namespace detail {

/// What the functions compute in: float and double as they are, whole numbers in double.
template <class T> using real_t = std::conditional_t<std::is_integral_v<T>, double, T>;

template <class T> inline constexpr bool is_native = elementary::Native<real_t<T>>;

/// What a processor may divide whole numbers by: 1 in place of 0, and of -1, by which the lowest of
/// them has no quotient. (Either would end the program.)
template <class C> KOKKOS_FORCEINLINE_FUNCTION C safe_divisor(C d) {
  const bool by_minus_one = std::is_signed_v<C> && d == static_cast<C>(-1);
  return d == C(0) || by_minus_one ? C(1) : d;
}
/// a / b. Of whole numbers it is 0 where b is 0, and the lowest of them divided by -1 is itself.
template <class A, class B> KOKKOS_FORCEINLINE_FUNCTION auto quotient(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    using C = decltype(a / b);
    using bits = std::make_unsigned_t<C>;
    const C n = static_cast<C>(a), d = static_cast<C>(b), q = n / safe_divisor(d);
    const C turned = static_cast<C>(bits(0) - static_cast<bits>(n));
    const bool by_minus_one = std::is_signed_v<C> && d == static_cast<C>(-1);
    return d == C(0) ? C(0) : by_minus_one ? turned : q;
  } else {
    return a / b;
  }
}

}  // namespace detail

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto exp(T x) {
  using std::exp;
  if constexpr (detail::is_native<T>)
    return elementary::exp(detail::real_t<T>(x));
  else
    return exp(x);
}

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto log(T x) {
  using std::log;
  if constexpr (detail::is_native<T>)
    return elementary::log(detail::real_t<T>(x));
  else
    return log(x);
}

/// log(1 + x), also where 1 + x would round to 1.
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto log1p(T x) {
  using std::log1p;
  if constexpr (detail::is_native<T>)
    return elementary::log1p(detail::real_t<T>(x));
  else
    return log1p(x);
}

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto tanh(T x) {
  using std::tanh;
  if constexpr (detail::is_native<T>)
    return elementary::tanh(detail::real_t<T>(x));
  else
    return tanh(x);
}

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto sqrt(T x) {
  using std::sqrt;
  if constexpr (detail::is_native<T>)
    return elementary::sqrt(detail::real_t<T>(x));
  else
    return sqrt(x);
}

/// 1 / sqrt(x)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto rsqrt(T x) {
  using R = detail::real_t<T>;
  return R(1) / dimesh::sqrt(R(x));
}

/// 1 / (1 + e^-x)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto sigmoid(T x) {
  using R = detail::real_t<T>;
  if constexpr (detail::is_native<T>)
    return elementary::sigmoid(R(x));
  else
    return R(1) / (R(1) + dimesh::exp(-x));
}

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto sin(T x) {
  using std::sin;
  return sin(x);
}

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto cos(T x) {
  using std::cos;
  return cos(x);
}

/// The greatest whole value that is not above x.
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto floor(T x) {
  using std::floor;
  if constexpr (std::is_integral_v<T>)
    return x;
  else if constexpr (detail::is_native<T>)
    return elementary::floor(x);
  else
    return floor(x);
}

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION constexpr T square(T x) { return x * x; }

template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION constexpr T abs(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else if constexpr (std::is_floating_point_v<T>)
    return std::abs(x);
  else
    return x < T(0) ? T(-x) : x;
}

/// c ? a : b without a branch
template <Number A, Number B>
KOKKOS_FORCEINLINE_FUNCTION std::common_type_t<A, B> select(bool c, A a, B b) {
  using C = std::common_type_t<A, B>;
  if constexpr (elementary::Native<C>)
    return elementary::choose<C>(c, C(a), C(b));
  else
    return c ? C(a) : C(b);
}

/// max(x, 0); NaN stays NaN. The derivative at 0 is 0.
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION T relu(T x) {
  return dimesh::select(x <= T(0), T(0), x);
}

/// The greater one; NaN if either is. Of equals the first, which also takes the derivative.
template <Number A, Number B>
KOKKOS_FORCEINLINE_FUNCTION std::common_type_t<A, B> maximum(A a, B b) {
  using C = std::common_type_t<A, B>;
  const C x = C(a), y = C(b);
  return dimesh::select((x >= y) | (x != x), x, y);
}

/// The smaller one; NaN if either is. Of equals the first, which also takes the derivative.
template <Number A, Number B>
KOKKOS_FORCEINLINE_FUNCTION std::common_type_t<A, B> minimum(A a, B b) {
  using C = std::common_type_t<A, B>;
  const C x = C(a), y = C(b);
  return dimesh::select((x <= y) | (x != x), x, y);
}

/// x^y as in <cmath>
template <Number X, Number Y> KOKKOS_FORCEINLINE_FUNCTION auto pow(X x, Y y) {
  using std::pow;
  using R = detail::real_t<std::conditional_t<std::is_integral_v<Y>, X, std::common_type_t<X, Y>>>;
  if constexpr (elementary::Native<R>)
    return elementary::pow(R(x), R(y));
  else
    return pow(R(x), R(y));
}

/// log(1 + e^x)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto softplus(T x) {
  using R = detail::real_t<T>;
  return dimesh::relu(R(x)) + dimesh::log1p(dimesh::exp(-dimesh::abs(R(x))));
}

/// x sigmoid(x); silu(-inf) is 0 (Elfwing et al., arXiv:1702.03118)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto silu(T x) {
  using R = detail::real_t<T>;
  const R v = dimesh::maximum(R(x), R(-1000));
  return v * dimesh::sigmoid(v);
}

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); gelu(-inf) is 0
/// (Hendrycks & Gimpel, arXiv:1606.08415)
template <Scalar T> KOKKOS_FORCEINLINE_FUNCTION auto gelu(T x) {
  using R = detail::real_t<T>;
  if constexpr (detail::is_native<T>) {
    return elementary::gelu_parts<R>(R(x)).value();
  } else {
    const R v = dimesh::maximum(x, R(-64)), u = R(1.5957691216057307117598) * v;
    return v * dimesh::sigmoid(u * (R(1) + R(0.044715) * v * v));
  }
}

}  // namespace dimesh

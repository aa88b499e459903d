// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one call of a scalar function give all its derivatives? By dual numbers: a value and
// N partial derivatives, carried through every function of local/math.hpp.
//
//   auto x = dual<float, 2>::variable(3, 0), y = dual<float, 2>::variable(4, 1);
//   x * y  -> dual<float, 2>{12, {4, 3}}
//
// Conventions: relu'(0) = abs'(0) = floor' = 0; of equals, maximum and minimum take the first.
#pragma once

#include <limits>
#include <type_traits>
#include "dimesh/local/choice.hpp"
#include "dimesh/local/joint.hpp"

namespace dimesh {

/// A value and its derivatives by N variables. `active` has a bit for each variable that the value
/// depends on: it is a constant where a function is inlined, so that products with a derivative
/// that is zero vanish, which IEEE arithmetic alone would not allow.
template <class T, int N> struct dual {
  T value{};
  T partial[N > 0 ? N : 1]{};
  unsigned active = 0;

  dual() = default;
  template <Scalar S>
    requires std::is_arithmetic_v<S> || std::is_same_v<S, T>
  KOKKOS_FORCEINLINE_FUNCTION dual(S constant) : value(static_cast<T>(constant)) {}

  /// The k-th variable itself.
  KOKKOS_FORCEINLINE_FUNCTION static dual variable(T at, int k) {
    dual x(at);
    x.partial[k] = T(1);
    x.active = 1u << k;
    return x;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool depends_on(int k) const { return (active >> k & 1u) != 0; }

  /// Its derivatives would be lost: says so.
  template <class S>
    requires std::is_arithmetic_v<S>
  explicit operator S() const {
    static_assert(ok<std::conditional_t<std::is_void_v<S>, no_fault, derivative_lost<S>>>,
                  "map: where gradients are wanted, elements come as dual numbers, and this makes "
                  "a plain one of it; keep auto, compare, or choose by select");
    return {};
  }
};

template <class T, int N> inline constexpr bool is_scalar<dual<T, N>> = true;
template <class T, int N> inline constexpr bool is_dual<dual<T, N>> = true;

// Declared before all others: their derivatives may be dual numbers themselves.
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D select(bool c, const X& x, const Y& y);
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> select(bool c, const dual<T, N>& x, const dual<T, N>& y);
template <class X, class Y> auto select(detail::choice c, const X& x, const Y& y) {
  return select(c.holds, x, y);
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D maximum(const X& x, const Y& y);
template <class T, int N, class Y>
  requires std::is_arithmetic_v<Y>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> pow(const dual<T, N>& x, Y y);
template <class X, class T, int N>
  requires std::is_arithmetic_v<X> || std::is_same_v<X, dual<T, N>>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> pow(const X& base, const dual<T, N>& y);

namespace detail {

template <class S> KOKKOS_FORCEINLINE_FUNCTION S primal_of(S x) { return x; }
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION T primal_of(const dual<T, N>& x) {
  return x.value;
}

/// x or y, with its derivatives
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> pick(bool c, const dual<T, N>& x, const dual<T, N>& y) {
  dual<T, N> r(dimesh::select(c, x.value, y.value));
  r.active = x.active | y.active;
  for (int k = 0; k < N; ++k) {
    r.partial[k] = r.depends_on(k) ? dimesh::select(c, x.partial[k], y.partial[k]) : T(0);
  }
  return r;
}

/// y = f(x), given dy/dx
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> chain(const dual<T, N>& x, T y, T dx) {
  dual<T, N> r(y);
  r.active = x.active;
  for (int k = 0; k < N; ++k) r.partial[k] = x.depends_on(k) ? dx * x.partial[k] : T(0);
  return r;
}

/// z = f(x, y), given dz/dx and dz/dy
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> chain(const dual<T, N>& x, const dual<T, N>& y, T z, T dx,
                                             T dy) {
  dual<T, N> r(z);
  r.active = x.active | y.active;
  for (int k = 0; k < N; ++k) {
    const T from_x = dx * x.partial[k], from_y = dy * y.partial[k];
    r.partial[k] = !x.depends_on(k) ? (y.depends_on(k) ? from_y : T(0))
                                    : (y.depends_on(k) ? from_x + from_y : from_x);
  }
  return r;
}

}  // namespace detail

template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> operator+(const dual<T, N>& x) {
  return x;
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> operator-(const dual<T, N>& x) {
  return detail::chain(x, -x.value, T(-1));
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D operator+(const X& x, const Y& y) {
  const D a(x), b(y);
  return detail::chain(a, b, a.value + b.value, decltype(a.value)(1), decltype(a.value)(1));
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D operator-(const X& x, const Y& y) {
  const D a(x), b(y);
  return detail::chain(a, b, a.value - b.value, decltype(a.value)(1), decltype(a.value)(-1));
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D operator*(const X& x, const Y& y) {
  const D a(x), b(y);
  return detail::chain(a, b, a.value * b.value, b.value, a.value);
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D operator/(const X& x, const Y& y) {
  const D a(x), b(y);
  const auto z = a.value / b.value;
  return detail::chain(a, b, z, 1 / b.value, -z / b.value);
}

template <class T, int N, class Y>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N>& operator+=(dual<T, N>& x, const Y& y) {
  return x = x + y;
}
template <class T, int N, class Y>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N>& operator-=(dual<T, N>& x, const Y& y) {
  return x = x - y;
}
template <class T, int N, class Y>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N>& operator*=(dual<T, N>& x, const Y& y) {
  return x = x * y;
}
template <class T, int N, class Y>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N>& operator/=(dual<T, N>& x, const Y& y) {
  return x = x / y;
}

// Comparisons look at the values only.
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION detail::comparison_t<D> operator==(const X& x, const Y& y) {
  using T = detail::compared<X, Y>;
  return {T(detail::primal_of(x)) == T(detail::primal_of(y))};
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION detail::comparison_t<D> operator<(const X& x, const Y& y) {
  using T = detail::compared<X, Y>;
  return {T(detail::primal_of(x)) < T(detail::primal_of(y))};
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION detail::comparison_t<D> operator>(const X& x, const Y& y) {
  using T = detail::compared<X, Y>;
  return {T(detail::primal_of(x)) > T(detail::primal_of(y))};
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION detail::comparison_t<D> operator<=(const X& x, const Y& y) {
  using T = detail::compared<X, Y>;
  return {T(detail::primal_of(x)) <= T(detail::primal_of(y))};
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION detail::comparison_t<D> operator>=(const X& x, const Y& y) {
  using T = detail::compared<X, Y>;
  return {T(detail::primal_of(x)) >= T(detail::primal_of(y))};
}

template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> exp(const dual<T, N>& x) {
  const T y = dimesh::exp(x.value);
  return detail::chain(x, y, y);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> log(const dual<T, N>& x) {
  return detail::chain(x, dimesh::log(x.value), 1 / x.value);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> log1p(const dual<T, N>& x) {
  return detail::chain(x, dimesh::log1p(x.value), 1 / (1 + x.value));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> tanh(const dual<T, N>& x) {
  const T y = dimesh::tanh(x.value);
  return detail::chain(x, y, 1 - y * y);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> sigmoid(const dual<T, N>& x) {
  const T y = dimesh::sigmoid(x.value);
  return detail::chain(x, y, y * (1 - y));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> sqrt(const dual<T, N>& x) {
  const T y = dimesh::sqrt(x.value);
  return detail::chain(x, y, T(0.5) / y);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> rsqrt(const dual<T, N>& x) {
  const T y = dimesh::rsqrt(x.value);
  return detail::chain(x, y, T(-0.5) * y * y * y);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> sin(const dual<T, N>& x) {
  return detail::chain(x, dimesh::sin(x.value), dimesh::cos(x.value));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> cos(const dual<T, N>& x) {
  return detail::chain(x, dimesh::cos(x.value), -dimesh::sin(x.value));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> floor(const dual<T, N>& x) {
  return dimesh::floor(x.value);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> square(const dual<T, N>& x) {
  return detail::chain(x, x.value * x.value, x.value + x.value);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> abs(const dual<T, N>& x) {
  const T sign = dimesh::select(x.value > 0, T(1), dimesh::select(x.value < 0, T(-1), T(0)));
  return detail::chain(x, dimesh::abs(x.value), sign);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> relu(const dual<T, N>& x) {
  return detail::pick(x.value <= 0, dual<T, N>(T(0)), x);
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> softplus(const dual<T, N>& x) {
  return detail::chain(x, dimesh::softplus(x.value), dimesh::sigmoid(x.value));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> silu(const dual<T, N>& x) {
  const T v = dimesh::maximum(x.value, T(-1000)), s = dimesh::sigmoid(v);
  return detail::chain(x, v * s, dimesh::select(s == T(1), T(1), s + v * s * (1 - s)));
}
template <class T, int N> KOKKOS_FORCEINLINE_FUNCTION dual<T, N> gelu(const dual<T, N>& x) {
  if constexpr (elementary::Native<T>) {
    const elementary::gelu_parts<T> g(x.value);
    return detail::chain(x, g.value(), g.derivative());
  } else {
    const dual<T, N> v = detail::pick(x.value < T(-64), dual<T, N>(T(-64)), x);
    const auto y = v * sigmoid(T(1.5957691216057307117598) * v * (T(1) + T(0.044715) * v * v));
    return detail::pick(x.value > T(64), x, y);
  }
}

template <class X, class Y, class D>
KOKKOS_FORCEINLINE_FUNCTION D select(bool c, const X& x, const Y& y) {
  return detail::pick(c, D(x), D(y));
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> select(bool c, const dual<T, N>& x, const dual<T, N>& y) {
  return detail::pick(c, x, y);
}
template <class X, class Y, class D> KOKKOS_FORCEINLINE_FUNCTION D maximum(const X& x, const Y& y) {
  const D a(x), b(y);
  return detail::pick((a.value >= b.value) | (a.value != a.value), a, b);
}
template <class X, class Y, class D = detail::joint_t<X, Y>>
KOKKOS_FORCEINLINE_FUNCTION D minimum(const X& x, const Y& y) {
  const D a(x), b(y);
  return detail::pick((a.value <= b.value) | (a.value != a.value), a, b);
}

/// x^y by a constant y
template <class T, int N, class Y>
  requires std::is_arithmetic_v<Y>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> pow(const dual<T, N>& x, Y y) {
  const T slope = T(y) * dimesh::pow(x.value, static_cast<T>(y) - 1);
  return detail::chain(x, T(dimesh::pow(x.value, y)), dimesh::select(y == Y(0), T(0), slope));
}
/// x^y; the derivative by y is taken as 0 where x^y is 0
template <class X, class T, int N>
  requires std::is_arithmetic_v<X> || std::is_same_v<X, dual<T, N>>
KOKKOS_FORCEINLINE_FUNCTION dual<T, N> pow(const X& base, const dual<T, N>& y) {
  const dual<T, N> x(base);
  const T z = dimesh::pow(x.value, y.value);
  const T dx = dimesh::select(y.value == 0, T(0), y.value * dimesh::pow(x.value, y.value - 1));
  return detail::chain(x, y, z, dx, dimesh::select(z == 0, T(0), z * dimesh::log(x.value)));
}

}  // namespace dimesh

/// Those of the values: a function may ask for infinity, or epsilon, of whatever it is given.
template <class T, int N>
struct std::numeric_limits<dimesh::dual<T, N>> : std::numeric_limits<T> {};

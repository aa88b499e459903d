// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a block of elements do to the carry of a scan, and what do two of them, one after the
// other? Of an affine step: slope * carry + value, where long products may leave what T can hold.
//
//   join_totals<recurrence_step<float>, float>{}(a, b)     what a does, and then b
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

#include <Kokkos_Macros.hpp>

#include "dimesh/element/element_traits.hpp"

namespace dimesh::local {

/// What a block of an affine step does to its carry: slope * carry + value.
template <class T> struct affine_total {
  T slope, value;
};
/// Floating-point numbers, and complex ones of them.
template <class T> concept Scalable = std::floating_point<T> || is_complex<T>;
/// Of them the slope is slope * 2^(unit * scale), scale a real number: a long product may leave
/// what T can hold before it meets its carry, or a zero.
template <Scalable T> struct affine_total<T> {
  T slope, value, scale;
};
/// What a block does to its carry.
template <class Step, class T>
using scan_total = std::conditional_t<Step::affine, affine_total<T>, T>;

namespace detail {

template <class T> constexpr T power_of_two(int n) {
  T x = 1;
  for (; n > 0; --n) x *= T(2);
  for (; n < 0; ++n) x /= T(2);
  return x;
}
/// x * 2^(unit * scale) in three parts: x, the scale, and a unit that makes products of two scaled
/// numbers neither overflow nor vanish, from whatever numbers of T they come.
template <Scalable T> struct scaled {
  using R = decltype(real_part(T()));
  static constexpr int unit = std::numeric_limits<R>::max_exponent * 5 / 8;
  static constexpr R up = power_of_two<R>(unit), down = power_of_two<R>(-unit),
                     most = power_of_two<R>(unit / 2), least = power_of_two<R>(-unit / 2);
  T x;
  R scale;

  /// |x|; of complex numbers its square, which may be 0 or infinite where x is not: far beyond both
  /// bounds.
  KOKKOS_FORCEINLINE_FUNCTION static R size_of(T x) {
    if constexpr (is_complex<T>)
      return squared_size(x);
    else
      return x < T(0) ? -x : x;
  }
  static constexpr R large = is_complex<T> ? most * most : most,
                     small = is_complex<T> ? least * least : least;
  /// The same number with x nearer to 1; exact, but for a part of a complex number beside which it
  /// is nothing.
  KOKKOS_FORCEINLINE_FUNCTION static scaled of(T x, R scale = 0) {
    const R size = size_of(x);
    const R by = size > large ? down : size < small ? up : R(1);
    const R more = size > large ? R(1) : size < small ? R(-1) : R(0);
    return {x * by, scale + more};
  }
  KOKKOS_FORCEINLINE_FUNCTION static scaled product(T x, R scale, T by, R by_scale = 0) {
    const scaled b = of(by, by_scale);
    return of(x * b.x, scale + b.scale);
  }
};

/// slope * 2^(unit * scale) * carry + value. Where nothing is scaled that is slope * carry + value.
template <Scalable T> T affine_at(const affine_total<T>& a, T carry) {
  using number = scaled<T>;
  using R = typename number::R;
  const number c = number::of(carry);
  const R scale = real_part(a.scale) + c.scale;
  const R by = scale == R(0)    ? R(1)
               : scale == R(1)  ? number::most
               : scale == R(-1) ? number::least
               : scale > R(0)   ? number::up
                                : number::down;
  if (std::abs(scale) <= R(2)) return (a.slope * by) * (c.x * by) + a.value;
  // Beyond what T holds, but for zeros, infinities and NaN: they stay.
  return (a.slope * by) * (c.x * by) * by * by + a.value;
}

}  // namespace detail

/// What two blocks do, one after the other.
template <class Step, class T> struct join_totals {
  Step step;
  scan_total<Step, T> operator()(const scan_total<Step, T>& a, const scan_total<Step, T>& b) const {
    if constexpr (Step::affine && Scalable<T>) {
      const auto slope =
          detail::scaled<T>::product(a.slope, real_part(a.scale), b.slope, real_part(b.scale));
      return {slope.x, detail::affine_at(b, a.value), T(slope.scale)};
    } else if constexpr (Step::affine) {
      return {static_cast<T>(a.slope * b.slope), static_cast<T>(b.slope * a.value + b.value)};
    } else {
      return step.join(a, b);
    }
  }
};

}  // namespace dimesh::local

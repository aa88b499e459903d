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

namespace dimesh::local {

/// What a block of an affine step does to its carry: slope * carry + value.
template <class T> struct affine_total {
  T slope, value;
};
/// Of floating-point numbers the slope is slope * 2^(unit * scale): a long product may leave what T
/// can hold before it meets its carry, or a zero.
template <std::floating_point T> struct affine_total<T> {
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
template <std::floating_point T> struct scaled {
  static constexpr int unit = std::numeric_limits<T>::max_exponent * 5 / 8;
  static constexpr T up = power_of_two<T>(unit), down = power_of_two<T>(-unit),
                     most = power_of_two<T>(unit / 2), least = power_of_two<T>(-unit / 2);
  T x, scale;

  /// The same number with x nearer to 1; exact.
  KOKKOS_FORCEINLINE_FUNCTION static scaled of(T x, T scale = 0) {
    const T size = x < T(0) ? -x : x;
    const T by = size > most ? down : size < least ? up : T(1);
    const T more = size > most ? T(1) : size < least ? T(-1) : T(0);
    return {x * by, scale + more};
  }
  KOKKOS_FORCEINLINE_FUNCTION static scaled product(T x, T scale, T by, T by_scale = 0) {
    const scaled b = of(by, by_scale);
    return of(x * b.x, scale + b.scale);
  }
};

/// slope * 2^(unit * scale) * carry + value. Where nothing is scaled that is slope * carry + value.
template <std::floating_point T> T affine_at(const affine_total<T>& a, T carry) {
  using number = scaled<T>;
  const number c = number::of(carry);
  const T scale = a.scale + c.scale;
  const T by = scale == T(0)    ? T(1)
               : scale == T(1)  ? number::most
               : scale == T(-1) ? number::least
               : scale > T(0)   ? number::up
                                : number::down;
  if (std::abs(scale) <= T(2)) return (a.slope * by) * (c.x * by) + a.value;
  // Beyond what T holds, but for zeros, infinities and NaN: they stay.
  return (a.slope * by) * (c.x * by) * by * by + a.value;
}

}  // namespace detail

/// What two blocks do, one after the other.
template <class Step, class T> struct join_totals {
  Step step;
  scan_total<Step, T> operator()(const scan_total<Step, T>& a, const scan_total<Step, T>& b) const {
    if constexpr (Step::affine && std::floating_point<T>) {
      const auto slope = detail::scaled<T>::product(a.slope, a.scale, b.slope, b.scale);
      return {slope.x, detail::affine_at(b, a.value), slope.scale};
    } else if constexpr (Step::affine) {
      return {static_cast<T>(a.slope * b.slope), static_cast<T>(b.slope * a.value + b.value)};
    } else {
      return step.join(a, b);
    }
  }
};

}  // namespace dimesh::local

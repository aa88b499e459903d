// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a scan do at one element? It has a carry from the elements before, makes the next one,
// and gives a result from both. Transposes of scans are scans the other way, and affine in what
// they carry: so blocks of them compose, as those of a linear recurrence do.
//
//   struct fold_step<plus, float>{{}, false}    next(c, x) = c + x, given = next     (a cumsum)
//   struct recurrence_step<float>               next(h, a, b) = a h + b
//
// A step is a struct with: inputs, how many arrays it reads (1 to 3); flops; first(), the carry
// before all; next(carry, v...); either gives_carry = true and exclusive, where the result holds
// the carry after an element or before it, or given(before, after, v...), what it holds; and either
// affine = true and slope(v...), the derivative of next by the carry, or join(earlier, later).
// By value throughout: temporaries whose address is taken stay in memory.
#pragma once

#include <bit>
#include <concepts>
#include <cstring>
#include <limits>

#include "dimesh/local/dual.hpp"
#include "dimesh/local/pull_loop.hpp"
#include "dimesh/local/reduce.hpp"

namespace dimesh::local {

/// A user's associative function and its identity.
template <class F, class T> struct joined_with {
  F f;
  T first;
  template <class> KOKKOS_FORCEINLINE_FUNCTION T identity() const { return first; }
  KOKKOS_FORCEINLINE_FUNCTION T join(T a, T b) const { return static_cast<T>(f(a, b)); }
};

/// Stands for "no element": a NaN that no arithmetic makes.
template <elementary::Native T> KOKKOS_FORCEINLINE_FUNCTION constexpr T no_element() {
  using word = std::make_unsigned_t<typename elementary::ieee<T>::bits>;
  return std::bit_cast<T>(static_cast<word>(sizeof(T) == 4 ? 0x7fcd1e5b : 0x7ffcd1e5bcd1e5b1));
}
template <elementary::Native T> KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_no_element(T x) {
  using word = std::make_unsigned_t<typename elementary::ieee<T>::bits>;
  return std::bit_cast<word>(x) == std::bit_cast<word>(no_element<T>());
}
template <std::same_as<long double> T> constexpr T no_element() {
  return __builtin_nanl("0x7cd1e5b");
}
template <std::same_as<long double> T> bool is_no_element(T x) {
  // Of the x87 format, ten bytes are the number.
  constexpr std::size_t bytes = std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T);
  const T none = no_element<T>();
  return std::memcmp(&x, &none, bytes) == 0;
}

/// An extreme that over nothing is no element, not the lowest or highest value, which an element
/// may have. Transposes ask it: of equals the first gets the gradient, infinite ones too.
template <class Extreme> struct or_none {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return no_element<T>();
  }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) {
    return is_no_element(a) ? b : is_no_element(b) ? a : Extreme::join(a, b);
  }
};
/// What a transpose joins the elements before with.
template <class Join, class T> struct joined_before {
  using type = Join;
  static constexpr type of(const Join& by) { return by; }
};
template <class Join, class T>
  requires((std::is_same_v<Join, greatest> || std::is_same_v<Join, least>) &&
           (elementary::Native<T> || std::is_same_v<T, long double>))
struct joined_before<Join, T> {
  using type = or_none<Join>;
  static constexpr type of(const Join&) { return {}; }
};

// ---- the derivatives of join(c, x) --------------------------------------------------------------

template <class T> KOKKOS_FORCEINLINE_FUNCTION T by_first(times, T, T x) { return x; }
template <class T> KOKKOS_FORCEINLINE_FUNCTION T by_second(times, T c, T) { return c; }
/// Of equals the first, as maximum and minimum have it.
template <class T> KOKKOS_FORCEINLINE_FUNCTION T by_first(greatest, T c, T x) {
  return ((c >= x) | (c != c)) ? T(1) : T(0);
}
template <class T> KOKKOS_FORCEINLINE_FUNCTION T by_second(greatest, T c, T x) {
  return ((c >= x) | (c != c)) ? T(0) : T(1);
}
template <class T> KOKKOS_FORCEINLINE_FUNCTION T by_first(least, T c, T x) {
  return ((c <= x) | (c != c)) ? T(1) : T(0);
}
template <class T> KOKKOS_FORCEINLINE_FUNCTION T by_second(least, T c, T x) {
  return ((c <= x) | (c != c)) ? T(0) : T(1);
}
template <class Extreme, class T>
KOKKOS_FORCEINLINE_FUNCTION T by_first(or_none<Extreme>, T c, T x) {
  return is_no_element(c) ? T(0) : by_first(Extreme{}, c, x);
}
template <class Extreme, class T>
KOKKOS_FORCEINLINE_FUNCTION T by_second(or_none<Extreme>, T c, T x) {
  return is_no_element(c) ? T(1) : by_second(Extreme{}, c, x);
}
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION T by_first(const joined_with<F, T>& j, T c, T x) {
  return detail::partial_of<0, T>(j.f(dual<T, 1>::variable(c, 0), dual<T, 1>(x)));
}
template <class F, class T>
KOKKOS_FORCEINLINE_FUNCTION T by_second(const joined_with<F, T>& j, T c, T x) {
  return detail::partial_of<0, T>(j.f(dual<T, 1>(c), dual<T, 1>::variable(x, 0)));
}

// ---- the steps ----------------------------------------------------------------------------------

/// y = the elements so far, joined; or those before.
template <class Join, class T> struct fold_step {
  Join by;
  bool exclusive;
  static constexpr int inputs = 1, flops = 1;
  static constexpr bool affine = false, gives_carry = true;

  KOKKOS_FORCEINLINE_FUNCTION T first() const { return by.template identity<T>(); }
  KOKKOS_FORCEINLINE_FUNCTION T next(T c, T x) const { return by.join(c, x); }
  KOKKOS_FORCEINLINE_FUNCTION T join(T earlier, T later) const { return by.join(earlier, later); }
};

/// The transpose of a fold, from the other end: of ybar, x, and e, the elements before joined. The
/// carry is the cotangent of e.
template <class Join, class T> struct fold_pulled_step {
  Join by;
  bool exclusive;
  static constexpr int inputs = 3, flops = 6;
  static constexpr bool affine = true, gives_carry = false;

  KOKKOS_FORCEINLINE_FUNCTION T first() const { return T(0); }
  KOKKOS_FORCEINLINE_FUNCTION T next(T u, T ybar, T x, T e) const {
    const T s = by_first(by, e, x);
    return exclusive ? ybar + s * u : s * (ybar + u);
  }
  KOKKOS_FORCEINLINE_FUNCTION T given(T before, T, T ybar, T x, T e) const {
    return by_second(by, e, x) * (exclusive ? before : ybar + before);
  }
  KOKKOS_FORCEINLINE_FUNCTION T slope(T, T x, T e) const { return by_first(by, e, x); }
};

/// h = a h + b.
template <class T> struct recurrence_step {
  bool exclusive;
  static constexpr int inputs = 2, flops = 2;
  static constexpr bool affine = true, gives_carry = true;

  KOKKOS_FORCEINLINE_FUNCTION T first() const { return T(0); }
  KOKKOS_FORCEINLINE_FUNCTION T next(T h, T a, T b) const { return static_cast<T>(a * h + b); }
  KOKKOS_FORCEINLINE_FUNCTION T slope(T a, T) const { return a; }
};

/// The cotangent of b, from the other end: of hbar and a. The carry is the cotangent of the h
/// before.
template <class T> struct recurrence_pulled_step {
  bool exclusive;
  static constexpr int inputs = 2, flops = 2;
  static constexpr bool affine = true, gives_carry = false;

  KOKKOS_FORCEINLINE_FUNCTION T first() const { return T(0); }
  KOKKOS_FORCEINLINE_FUNCTION T next(T u, T hbar, T a) const {
    return exclusive ? hbar + a * u : a * (hbar + u);
  }
  KOKKOS_FORCEINLINE_FUNCTION T given(T before, T, T hbar, T) const {
    return exclusive ? before : hbar + before;
  }
  KOKKOS_FORCEINLINE_FUNCTION T slope(T, T a) const { return a; }
};

}  // namespace dimesh::local

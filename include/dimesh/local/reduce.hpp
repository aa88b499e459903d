// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the elements of a row summed, multiplied, or their extremes found? The loops of all
// reductions (reduce_over.hpp): one result a row, or a row joined to a row of results.
//
//   reduce_row<plus, keep::nothing, F>{f}(n, value_of_row<T>{&sum}, row_of<const T>{x})
//
// Over nothing, a result is the identity. NaN propagates.
#pragma once

#include "dimesh/local/math.hpp"
#include "dimesh/local/row.hpp"
#include "dimesh/local/tile.hpp"  // whole_lanes

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace dimesh::local {

struct plus {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() { return T(0); }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      // Sums may leave the type on their way and come back: defined of unsigned numbers only.
      using bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b));
    } else {
      return a + b;
    }
  }
};

struct times {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() { return T(1); }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) {
    return static_cast<T>(a * b);
  }
};

struct greatest {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) {
    return dimesh::maximum(a, b);
  }
  /// Is a the extreme of both, and b not as well? NaN is the extreme of all.
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static bool passes(T a, T b) {
    return static_cast<int>(!(a <= b)) & static_cast<int>(b == b);
  }
};

struct least {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) {
    return dimesh::minimum(a, b);
  }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static bool passes(T a, T b) {
    return static_cast<int>(!(a >= b)) & static_cast<int>(b == b);
  }
};

namespace detail {

/// in (n) ... -> the sum of f over all positions
template <class T, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(plus, index_t n, F f, In... in) {
  T sum{};
  if constexpr (std::is_arithmetic_v<T>) {
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum)
    for (index_t i = 0; i < n; ++i) sum += static_cast<T>(f(in[i]...));
  } else {  // users' types may have no +=
    for (index_t i = 0; i < n; ++i) sum = plus::join(sum, static_cast<T>(f(in[i]...)));
  }
  return sum;
}

/// The same of four streams, 4 n positions: one chain of additions is slower than the caches.
template <class T, class F, class... In>
  requires(!std::is_arithmetic_v<T>)
KOKKOS_FORCEINLINE_FUNCTION T joined_streams(index_t n, F f, In... in) {
  return joined<T>(plus{}, 4 * n, f, in...);
}
template <class T, class F, class... In>
  requires std::is_arithmetic_v<T>
KOKKOS_FORCEINLINE_FUNCTION T joined_streams(index_t n, F f, In... in) {
  T a{}, b{}, c{}, d{};
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : a, b, c, d)
  for (index_t i = 0; i < n; ++i) {
    a += static_cast<T>(f(in[i]...));
    b += static_cast<T>(f(in[i + n]...));
    c += static_cast<T>(f(in[i + 2 * n]...));
    d += static_cast<T>(f(in[i + 3 * n]...));
  }
  return (a + b) + (c + d);
}

/// in (n) ... -> the product of f over all positions, from the first to the last: products of every
/// fourth one, say, might leave the type where the product of all does not.
template <class T, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(times, index_t n, F f, In... in) {
  T product(1);
  for (index_t i = 0; i < n; ++i) product = times::join(product, static_cast<T>(f(in[i]...)));
  return product;
}

/// Larger than the bits of inf: the bits of a NaN, without its sign.
template <class T> KOKKOS_FORCEINLINE_FUNCTION auto size_bits(T x) {
  if constexpr (elementary::Native<T>) {
    using bits = typename elementary::ieee<T>::bits;
    return static_cast<bits>(std::bit_cast<bits>(x) & std::numeric_limits<bits>::max());
  } else {
    return static_cast<std::int32_t>(x != x);
  }
}
template <class T> KOKKOS_FORCEINLINE_FUNCTION constexpr auto largest_number() {
  if constexpr (elementary::Native<T>) {
    return std::bit_cast<typename elementary::ieee<T>::bits>(std::numeric_limits<T>::infinity());
  } else {
    return std::int32_t(0);
  }
}

/// in (n) ... -> the greatest f. Comparisons lose NaN, which is looked for beside them. clang does
/// not turn extremes of floats into vector code, and warns where it is told to.
template <class T, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(greatest, index_t n, F f, In... in) {
  T a = greatest::identity<T>();
  auto size = largest_number<T>();
#ifndef __clang__
#pragma omp simd simdlen(whole_lanes<T>) reduction(max : a, size)
#endif
  for (index_t i = 0; i < n; ++i) {
    const T x = static_cast<T>(f(in[i]...));
    const auto s = size_bits(x);
    size = s > size ? s : size;
    a = x > a ? x : a;
  }
  // Some compilers start from the lowest number instead, and lose it where all are -inf.
  if (a == std::numeric_limits<T>::lowest()) {
    a = greatest::identity<T>();
    for (index_t i = 0; i < n; ++i) {
      const T x = static_cast<T>(f(in[i]...));
      a = x > a ? x : a;
    }
  }
  return size > largest_number<T>() ? std::numeric_limits<T>::quiet_NaN() : a;
}

template <class T, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(least, index_t n, F f, In... in) {
  T a = least::identity<T>();
  auto size = largest_number<T>();
#ifndef __clang__
#pragma omp simd reduction(min : a) reduction(max : size)
#endif
  for (index_t i = 0; i < n; ++i) {
    const T x = static_cast<T>(f(in[i]...));
    const auto s = size_bits(x);
    size = s > size ? s : size;
    a = x < a ? x : a;
  }
  if (a == std::numeric_limits<T>::max()) {
    a = least::identity<T>();
    for (index_t i = 0; i < n; ++i) {
      const T x = static_cast<T>(f(in[i]...));
      a = x < a ? x : a;
    }
  }
  return size > largest_number<T>() ? std::numeric_limits<T>::quiet_NaN() : a;
}

/// How results are written: over what was there, or joined with it.
enum class keep { nothing, joined };

template <class Op, keep Keep, class T> KOKKOS_FORCEINLINE_FUNCTION void join_to(T* at, T x) {
  if constexpr (Keep == keep::nothing)
    *at = x;
  else
    *at = Op::join(*at, x);
}

template <class Op, keep Keep, class F> struct reduce_row {
  F f;
  template <class T, step S, class... In>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(index_t n, const row<T, S>& out,
                                              const In&... in) const {
    if constexpr (S != step::zero)
      join_rows(n, f, lane_of(out), lane_of(in)...);
    else if constexpr (std::is_same_v<Op, plus>)
      join_to<Op, Keep>(out.data, long_sum<T>(n, f, in...));
    else
      join_to<Op, Keep>(out.data, joined<T>(Op{}, n, f, lane_of(in)...));
  }

 private:
  /// The sum of f(in (n) ...), in pieces, and these in runs: short sums lose fewer digits.
  template <class T, class... In>
  KOKKOS_FORCEINLINE_FUNCTION static T long_sum(index_t n, F f, const In&... in) {
    constexpr index_t piece = 16384, run = 64 * piece;
    T sum{};
    index_t i = 0;
    while (n - i >= piece) {
      const index_t end = n - i > run ? i + run : i + (n - i) / piece * piece;
      T some{};
      for (; i < end; i += piece)
        some = Op::join(some, joined_streams<T>(piece / 4, f, lane_of(in.from(i))...));
      sum = Op::join(sum, some);
    }
    return i < n ? Op::join(sum, joined<T>(Op{}, n - i, f, lane_of(in.from(i))...)) : sum;
  }

  /// out (n) joined with f(in (n) ...)
  template <class Out, class... In>
  KOKKOS_FORCEINLINE_FUNCTION static void join_rows(index_t n, F f, Out out, In... in) {
    using T = std::remove_reference_t<decltype(out[0])>;
#pragma omp simd
    for (index_t i = 0; i < n; ++i) join_to<Op, Keep>(&out[i], static_cast<T>(f(in[i]...)));
  }
};

struct itself {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const { return x; }
};

}  // namespace detail

}  // namespace dimesh::local

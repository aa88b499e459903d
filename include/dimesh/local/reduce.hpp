// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are the elements of an array summed, or their extremes found, over some of its groups?
//
//   reduce(plus{}, nest<2>{{256, 1024}}, out, x)          // out <strided, zero>: row sums
//   map_reduce(greatest{}, nest<1>{{n}}, abs, out, x)     // out <zero>: the largest |x|
//   argmax(outer, n, inner, x, out)                       // x (outer, n, inner) -> (outer, inner)
//
// The result lacks the groups that are reduced. Over nothing, it is the identity. NaN propagates.
#pragma once

#include "dimesh/local/map.hpp"
#include "dimesh/local/math.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace dimesh::local {

struct plus {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() { return T(0); }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) { return a + b; }
};

struct greatest {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
  template <class T> KOKKOS_FORCEINLINE_FUNCTION static T join(T a, T b) {
    return dimesh::maximum(a, b);
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
};

namespace detail {

/// in (n) ... -> the sum of f over all positions
template <class T, class Length, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(plus, Length n, F f, In... in) {
  T sum{};
  if constexpr (std::is_arithmetic_v<T>) {
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum)
    for (index_t i = 0; i < n; ++i) sum += static_cast<T>(f(in[i]...));
  } else {
    for (index_t i = 0; i < n; ++i) sum += static_cast<T>(f(in[i]...));
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
template <class T, class Length, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(greatest, Length n, F f, In... in) {
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

template <class T, class Length, class F, class... In>
KOKKOS_FORCEINLINE_FUNCTION T joined(least, Length n, F f, In... in) {
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

/// How results are written: over what was there, joined with it, or joined while others do so.
enum class keep { nothing, joined, atomic };

template <class Op, keep Keep, class T> KOKKOS_FORCEINLINE_FUNCTION void join_to(T* at, T x) {
  if constexpr (Keep == keep::nothing)
    *at = x;
  else if constexpr (Keep == keep::joined)
    *at = Op::join(*at, x);
  else if constexpr (std::is_same_v<Op, plus>)
    Kokkos::atomic_add(at, x);
  else if constexpr (std::is_same_v<Op, greatest>)
    Kokkos::atomic_fetch_max(at, x);
  else
    Kokkos::atomic_fetch_min(at, x);
}

template <class Op, keep Keep, class F> struct reduce_row {
  F f;
  template <class Length, class T, step... S, class... In>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Length n, const operand<T, S...>& out,
                                              const In&... in) const {
    if constexpr (operand<T, S...>::inner != step::zero) {
      join_rows(n, f, lane_of(out), lane_of(in)...);
    } else if constexpr (std::is_same_v<Op, plus> && std::is_same_v<Length, index_t>) {
      join_to<Op, Keep>(out.data, long_sum<T>(n, f, in...));
    } else {
      join_to<Op, Keep>(out.data, joined<T>(Op{}, n, f, lane_of(in)...));
    }
  }

 private:
  /// The sum of f(in (n) ...), in pieces: short sums lose fewer digits.
  template <class T, class... In>
  KOKKOS_FORCEINLINE_FUNCTION static T long_sum(index_t n, F f, const In&... in) {
    constexpr index_t piece = 16384;
    T sum{};
    index_t i = 0;
    for (; n - i >= piece; i += piece) {
      sum += joined_streams<T>(piece / 4, f, lane_of(along_row(in, i))...);
    }
    return i < n ? sum + joined<T>(Op{}, n - i, f, lane_of(along_row(in, i))...) : sum;
  }
  template <class X> KOKKOS_FORCEINLINE_FUNCTION static X along_row(const X& x, index_t i) {
    return x.template shifted<X::groups - 1>(i);
  }

  /// out (n) joined with f(in (n) ...)
  template <class Length, class Out, class... In>
  KOKKOS_FORCEINLINE_FUNCTION static void join_rows(Length n, F f, Out out, In... in) {
    using T = std::remove_reference_t<decltype(out[0])>;
#pragma omp simd
    for (index_t i = 0; i < n; ++i) join_to<Op, Keep>(&out[i], static_cast<T>(f(in[i]...)));
  }
};

/// Reduces in pieces although the result moves along no group that can be cut: it has one element,
/// or a row of static length. Each piece has a result of its own; they are joined in their order.
template <class Space, class Op, int G, index_t I, class F, class Out, class... In>
void reduce_apart(index_t most, const nest<G, I>& space, const F& f, const Out& out,
                  const In&... in) {
  using T = typename Out::value_type;
  constexpr bool row = I != dynamic && Out::inner != step::zero;
  constexpr index_t width = row ? I : 1, slot = (width + 15) / 16 * 16;  // a cache line and more
  const int cut = cut_of(space);
  const index_t count = cut < 0 ? 1 : std::min(space.extent[cut], most);
  std::vector<T> results(static_cast<std::size_t>(count * slot), Op::template identity<T>());
  launch<Space>(count, [&](index_t p) {
    Out mine = out;
    mine.data = results.data() + p * slot;
    if constexpr (row) mine.stride[G - 1] = 1;
    run_piece(space, cut, count, p, reduce_row<Op, keep::joined, F>{f}, mine, in...);
  });
  const index_t along = out.template along<G - 1>();
  for (index_t p = 0; p < count; ++p) {
    for (index_t i = 0; i < width; ++i) {
      T& to = out.data[i * along];
      to = Op::join(to, results[static_cast<std::size_t>(p * slot + i)]);
    }
  }
}

struct itself {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const { return x; }
};

}  // namespace detail

/// out = f(in...) joined by op over every group that out lacks.
template <class Space = default_space, class Op, int G, index_t I, class F, Operand Out,
          Operand... In>
void map_reduce(Op, const nest<G, I>& space, const F& f, const Out& out, const In&... in) {
  using T = typename Out::value_type;
  constexpr bool host = detail::runs_on_host<Space>, serial = std::is_same_v<Space, Kokkos::Serial>;
  // Where a row is all that is joined, its result is written at once.
  constexpr bool at_once = host && Out::inner == step::zero && !Out::lacks_outer() &&
                           detail::across_group<G, Out, In...>() < 0;
  constexpr auto keep = !host     ? detail::keep::atomic
                        : at_once ? detail::keep::nothing
                                  : detail::keep::joined;
  if (!at_once || space.size() == 0)
    detail::fill_kept<Space>(space, Op::template identity<T>(), out);
  const int cut = cut_of<Out>(space);
  if constexpr (host && !serial && G > 0) {
    if (cut < 0 && space.size() > 0) {
      if (at_once) *out.data = Op::template identity<T>();
      detail::reduce_apart<Space, Op>(detail::pieces<Space>::most(), space, f, out, in...);
      return;
    }
  }
  sweep<Space>(space, cut, detail::reduce_row<Op, keep, F>{f}, out, in...);
}

/// out = in joined by op over every group that out lacks.
template <class Space = default_space, class Op, int G, index_t I, Operand Out, Operand In>
void reduce(Op op, const nest<G, I>& space, const Out& out, const In& in) {
  map_reduce<Space>(op, space, detail::itself{}, out, in);
}

}  // namespace dimesh::local

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the inputs of map receive when cotangents flow back? ybar times the derivative of f,
// summed over what an input lacks; for all wanted inputs in one pass, by dual numbers. This is the
// loop along one row; map_transpose_over.hpp has all others.
//
//   pullback_row<P, F>{f}(n, ybar, h, b, hbar, bbar)
//   // hbar[j] = ybar[j] df/dh,   bbar[j] += ybar[j] df/db
//
// f is called with dual numbers for the wanted inputs, with plain ones for the others.
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/local/dual.hpp"
#include "dimesh/local/map.hpp"

#include <cstddef>

namespace dimesh::local {

namespace detail {

using dimesh::detail::bundle;
using dimesh::detail::item;

/// How a cotangent is written: directly, added to (its input lacks an outer group), or as the sum
/// of a row (its input lacks the innermost group).
enum class deposit { write, add, sum };

template <deposit D, class Lane, class T>
KOKKOS_FORCEINLINE_FUNCTION void put(const Lane& bar, index_t i, T x) {
  if constexpr (D == deposit::write)
    dimesh::store(bar[i], x);
  else if constexpr (D == deposit::add)
    bar[i] += x;
}

/// The derivative of y by variable K; a plain y depends on none.
template <int K, class T, class Y> KOKKOS_FORCEINLINE_FUNCTION T partial_of(const Y& y) {
  if constexpr (is_dual<Y>)
    return y.partial[K];
  else
    return T(0);
}

/// The K-th wanted input as a variable, K < 0: an input as it is.
template <class Dual, int K, class T> KOKKOS_FORCEINLINE_FUNCTION auto seeded(const T& x) {
  if constexpr (K < 0)
    return x;
  else
    return Dual::variable(x, K);
}

/// One call at compile time: Slot says of each input which variable it is, or -1; D says of each
/// cotangent how it is written. One of them at most is a row sum.
template <class Value, class Slots, deposit... D> struct pullback;

template <class Value, int... Slot, deposit... D>
struct pullback<Value, std::integer_sequence<int, Slot...>, D...> {
  using value_type = Value;
  static constexpr int inputs = sizeof...(Slot), bars = sizeof...(D);
  static constexpr int slot[sizeof...(Slot)] = {Slot...};
  static constexpr deposit how[sizeof...(D)] = {D...};
  static_assert(((D == deposit::sum ? 1 : 0) + ... + 0) <= 1, "dimesh: one row sum at most");

  /// The variable whose cotangent is the row sum; -1 if none is.
  static constexpr int summed() {
    for (int k = 0; k < bars; ++k)
      if (how[k] == deposit::sum) return k;
    return -1;
  }
};

/// One position: writes its cotangents and returns what it adds to the row sum. A function of its
/// own, because dual numbers made inside the `simd` loop would have addresses there, and the
/// compiler would keep them in memory.
template <class P, class F, class YBar, class Lanes, int... J, int... K>
KOKKOS_FORCEINLINE_FUNCTION typename P::value_type pull_back_at(index_t i, const F& f,
                                                                const YBar& ybar,
                                                                const Lanes& lanes,
                                                                std::integer_sequence<int, J...>,
                                                                std::integer_sequence<int, K...>) {
  using T = typename P::value_type;
  const T g = static_cast<T>(ybar[i]);
  const auto y = f(seeded<dual<T, P::bars>, P::slot[J]>(item<J>(lanes)[i])...);
  (put<P::how[K]>(item<P::inputs + K>(lanes), i, g * partial_of<K, T>(y)), ...);
  if constexpr (P::summed() >= 0)
    return g * partial_of<P::summed(), T>(y);
  else
    return T(0);
}

/// ybar (n), lanes: the inputs (n) ..., then the cotangents (n) ...
template <class P, class F, class YBar, class Lanes, int... J, int... K>
KOKKOS_FORCEINLINE_FUNCTION void pullback_loop(index_t n, F f, YBar ybar, Lanes lanes,
                                               std::integer_sequence<int, J...> inputs,
                                               std::integer_sequence<int, K...> variables) {
  using T = typename P::value_type;
  if constexpr (P::summed() < 0) {
#pragma omp simd simdlen(whole_lanes<T>)
    for (index_t i = 0; i < n; ++i) pull_back_at<P>(i, f, ybar, lanes, inputs, variables);
  } else {
    T sum{};
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum)
    for (index_t i = 0; i < n; ++i) sum += pull_back_at<P>(i, f, ybar, lanes, inputs, variables);
    item<P::inputs + P::summed()>(lanes)[0] += sum;
  }
}

template <class P, class F> struct pullback_row {
  F f;
  template <class YBar, class... X>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(index_t n, const YBar& ybar, const X&... x) const {
    // Not `bundle(...)`: clang takes deduction guides for host code, and this runs on devices, too.
    pullback_loop<P>(n, f, lane_of(ybar), bundle<decltype(lane_of(x))...>(lane_of(x)...),
                     std::make_integer_sequence<int, P::inputs>{},
                     std::make_integer_sequence<int, P::bars>{});
  }
};

}  // namespace detail

}  // namespace dimesh::local

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the inputs of map receive when cotangents flow back? ybar times the derivative of f,
// summed over the groups that an input lacks; for all wanted inputs in one pass, by dual numbers.
//
//   map_transpose(nest<2>{{256, 1024}}, f, ybar, wanted{h, hbar}, wanted{b, bbar}, m)
//   // hbar[i, j] = ybar[i, j] df/dh,   bbar[j] = sum_i ybar[i, j] df/db
//
// f is called with dual numbers for the wanted inputs, with plain ones for the others.
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/local/dual.hpp"
#include "dimesh/local/map.hpp"

#include <cstddef>

namespace dimesh::local {

/// An input and the place for its cotangent, which has the same steps, perhaps other strides.
template <Operand X, Operand XBar> struct wanted {
  X value;
  XBar bar;
};
template <class X, class XBar> wanted(X, XBar) -> wanted<X, XBar>;

namespace detail {

using dimesh::detail::bundle;
using dimesh::detail::item;

template <class X> inline constexpr bool is_wanted = false;
template <class X, class XBar> inline constexpr bool is_wanted<wanted<X, XBar>> = true;

template <class X> KOKKOS_FORCEINLINE_FUNCTION const auto& value_part(const X& x) {
  if constexpr (is_wanted<X>)
    return x.value;
  else
    return x;
}

/// How a cotangent is written: directly, added to (its input lacks an outer group), or as the sum
/// of a row (its input lacks the innermost group).
enum class deposit { write, add, sum };

template <Operand Bar>
inline constexpr deposit deposit_of = Bar::inner == step::zero ? deposit::sum
                                      : Bar::lacks_any()       ? deposit::add
                                                               : deposit::write;

template <bool Atomic, class T> KOKKOS_FORCEINLINE_FUNCTION void add_to(T* at, T x) {
  if constexpr (Atomic)
    Kokkos::atomic_add(at, x);
  else
    *at += x;
}

template <deposit D, bool Atomic, class Lane, class T>
KOKKOS_FORCEINLINE_FUNCTION void put(const Lane& bar, index_t i, T x) {
  if constexpr (D == deposit::write)
    dimesh::store(bar[i], x);
  else if constexpr (D == deposit::add)
    add_to<Atomic>(&bar[i], x);
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
/// cotangent how it is written.
template <class Value, class Slots, deposit... D> struct pullback;

template <class Value, int... Slot, deposit... D>
struct pullback<Value, std::integer_sequence<int, Slot...>, D...> {
  using value_type = Value;
  static constexpr int inputs = sizeof...(Slot), bars = sizeof...(D);
  static constexpr int slot[sizeof...(Slot)] = {Slot...};
  static constexpr deposit how[sizeof...(D)] = {D...};
  static constexpr int sums = ((D == deposit::sum ? 1 : 0) + ... + 0);

  /// The variable whose cotangent is the n-th row sum.
  static constexpr int nth_sum(int n) {
    for (int k = 0; k < bars; ++k) {
      if (how[k] == deposit::sum && n-- == 0) return k;
    }
    return 0;
  }
};

/// What one position adds to four row sums.
template <class T> struct four_terms {
  T a, b, c, d;
};

/// One position: writes its cotangents (where First is 0) and returns what it adds to the row sums
/// from number First on. A function of its own, because dual numbers made inside the `simd` loop
/// would have addresses there, and the compiler would keep them in memory.
template <bool Atomic, class P, int First, class F, class YBar, class Lanes, int... J, int... K>
KOKKOS_FORCEINLINE_FUNCTION four_terms<typename P::value_type> pull_back_at(
    index_t i, const F& f, const YBar& ybar, const Lanes& lanes, std::integer_sequence<int, J...>,
    std::integer_sequence<int, K...>) {
  using T = typename P::value_type;
  constexpr int left = P::sums - First;
  const T g = static_cast<T>(ybar[i]);
  const auto y = f(seeded<dual<T, P::bars>, P::slot[J]>(item<J>(lanes)[i])...);
  if constexpr (First == 0)
    (put<P::how[K], Atomic>(item<P::inputs + K>(lanes), i, g * partial_of<K, T>(y)), ...);
  four_terms<T> terms{};
  if constexpr (left > 0) terms.a = g * partial_of<P::nth_sum(First), T>(y);
  if constexpr (left > 1) terms.b = g * partial_of<P::nth_sum(First + 1), T>(y);
  if constexpr (left > 2) terms.c = g * partial_of<P::nth_sum(First + 2), T>(y);
  if constexpr (left > 3) terms.d = g * partial_of<P::nth_sum(First + 3), T>(y);
  return terms;
}

/// ybar (n), lanes: the inputs (n) ..., then the cotangents (n) ... One pass writes all of them,
/// save row sums beyond the fourth: those take another pass for every four, from number First on.
template <bool Atomic, class P, int First, class Length, class F, class YBar, class Lanes, int... J,
          int... K>
KOKKOS_FORCEINLINE_FUNCTION void pullback_loop(Length n, F f, YBar ybar, Lanes lanes,
                                               std::integer_sequence<int, J...> inputs,
                                               std::integer_sequence<int, K...> variables) {
  using T = typename P::value_type;
  constexpr int left = P::sums - First;
  constexpr int a = P::nth_sum(First), b = P::nth_sum(First + 1), c = P::nth_sum(First + 2),
                d = P::nth_sum(First + 3);
  T sum_a{}, sum_b{}, sum_c{}, sum_d{};
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum_a, sum_b, sum_c, sum_d)
  for (index_t i = 0; i < n; ++i) {
    const four_terms<T> terms =
        pull_back_at<Atomic, P, First>(i, f, ybar, lanes, inputs, variables);
    if constexpr (left > 0) sum_a += terms.a;
    if constexpr (left > 1) sum_b += terms.b;
    if constexpr (left > 2) sum_c += terms.c;
    if constexpr (left > 3) sum_d += terms.d;
  }
  if constexpr (left > 0) add_to<Atomic>(&item<P::inputs + a>(lanes)[0], sum_a);
  if constexpr (left > 1) add_to<Atomic>(&item<P::inputs + b>(lanes)[0], sum_b);
  if constexpr (left > 2) add_to<Atomic>(&item<P::inputs + c>(lanes)[0], sum_c);
  if constexpr (left > 3) add_to<Atomic>(&item<P::inputs + d>(lanes)[0], sum_d);
  if constexpr (left > 4) {
    pullback_loop<Atomic, P, First + 4>(n, f, ybar, lanes, inputs, variables);
  }
}

template <bool Atomic, class P, class F> struct pullback_row {
  F f;
  template <class Length, class YBar, class... X>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Length n, const YBar& ybar, const X&... x) const {
    // Not `bundle(...)`: clang takes deduction guides for host code, and this runs on devices, too.
    pullback_loop<Atomic, P, 0>(n, f, lane_of(ybar), bundle<decltype(lane_of(x))...>(lane_of(x)...),
                                std::make_integer_sequence<int, P::inputs>{},
                                std::make_integer_sequence<int, P::bars>{});
  }
};

/// The number of each wanted input among the wanted ones; -1 for the others.
template <class... X, std::size_t... J> constexpr auto slots_of(std::index_sequence<J...>) {
  constexpr auto slot = [](std::size_t at) {
    constexpr bool marks[] = {is_wanted<X>..., false};
    int before = 0;
    for (std::size_t j = 0; j < at; ++j) before += marks[j];
    return marks[at] ? before : -1;
  };
  return std::integer_sequence<int, slot(J)...>{};
}

/// The places of the wanted inputs.
template <class... X> struct wanted_among {
  static constexpr std::size_t count = ((is_wanted<X> ? 1u : 0u) + ... + 0u);
  static constexpr auto make() {
    std::array<std::size_t, count + 1> found{};
    std::size_t n = 0, j = 0;
    ((is_wanted<X> ? void(found[n++] = j) : void(), ++j), ...);
    return found;
  }
  static constexpr auto at = make();
};

/// bars: those of the wanted inputs W...
template <class Space, int G, index_t I, class F, class YBar, std::size_t... W, class... X>
void pull_back(std::index_sequence<W...>, const nest<G, I>& space, const F& f, const YBar& ybar,
               const X&... x) {
  const bundle<const X*...> all(&x...);
  const auto run = [&](const auto&... bar) {
    using Value =
        std::common_type_t<computed<typename std::remove_cvref_t<decltype(bar)>::value_type>...>;
    using Slots = decltype(slots_of<X...>(std::index_sequence_for<X...>{}));
    using P = pullback<Value, Slots, deposit_of<std::remove_cvref_t<decltype(bar)>>...>;
    constexpr bool atomic = !runs_on_host<Space>;
    ((deposit_of<std::remove_cvref_t<decltype(bar)>> != deposit::write
          ? fill_kept<Space>(space, {}, bar)
          : void()),
     ...);
    sweep<Space>(space, cut_of<std::remove_cvref_t<decltype(bar)>...>(space),
                 pullback_row<atomic, P, F>{f}, ybar, value_part(x)..., bar...);
  };
  run(item<wanted_among<X...>::at[W]>(all)->bar...);
}

}  // namespace detail

/// Writes the cotangent of every wanted input of y = f(x...). Nothing may overlap a cotangent.
template <class Space = default_space, int G, index_t I, class F, Operand YBar, class... X>
void map_transpose(const nest<G, I>& space, const F& f, const YBar& ybar, const X&... x) {
  constexpr std::size_t bars = detail::wanted_among<X...>::count;
  static_assert(bars > 0,
                "map_transpose: no cotangent is asked for; pass wanted{x, xbar} for an input");
  if constexpr (bars > 0)
    detail::pull_back<Space>(std::make_index_sequence<bars>{}, space, f, ybar, x...);
}

}  // namespace dimesh::local

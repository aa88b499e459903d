// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops give the cotangents of f's inputs, whatever the layouts? Some that write them at once
// for the usual cases, and one for all others, which can also leave the partial derivatives in
// buffers; what becomes of those no longer depends on f.
//
//   out_k[i] = old_k[i] + g_k[i] df/dx_k(x[i]...)   for all k in one pass
//
// With old_k = out_k it adds to a cotangent, with old_k = -0 it writes one (v + -0 is v, also for
// v = +-0), with g_k = 1 besides it gives the partial derivative.
#pragma once

#include "dimesh/local/map_over.hpp"
#include "dimesh/local/pull_loop.hpp"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace dimesh::local::detail {

/// Inputs of the mask that are real numbers, and in what their derivatives are computed.
template <unsigned Mask, class... X> struct real_inputs {
  static constexpr int inputs = sizeof...(X);
  template <class R> using if_real = std::conditional_t<is_real<R>, computed<R>, float>;
  using value = std::common_type_t<if_real<X>...>;

  static constexpr bool is_one(int j, bool real) { return real && (Mask >> j & 1u) != 0; }
  static constexpr int count = [] {
    int j = 0, n = 0;
    ((n += is_one(j++, is_real<X>)), ...);
    return n;
  }();
  /// The number of input j among them; -1 for the others.
  static constexpr int slot(int j) {
    int at = 0;
    const bool real[] = {is_one(at++, is_real<X>)..., false};
    int before = 0;
    for (int i = 0; i < j; ++i) before += real[i];
    return real[j] ? before : -1;
  }
  /// The place of the k-th real input.
  static constexpr int place(int k) {
    for (int j = 0; j < inputs; ++j) {
      if (slot(j) == k) return j;
    }
    return 0;
  }
};

template <class... X> struct types {
  template <int J> static auto at() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::type_identity<dimesh::detail::item_type<J, dimesh::detail::bundle<X...>>>{};
    }(std::index_sequence_for<X...>{});
  }
  template <int J> using type = typename decltype(at<J>())::type;
};

/// The inputs of f at one position -> all partial derivatives, used by `partials`. A function of
/// its own, for the reason that pull_back_at is one.
template <class T, class Reals, class F, class Lanes, int... J, int... K>
KOKKOS_FORCEINLINE_FUNCTION void partials_at(index_t i, const F& f, const Lanes& x,
                                             const lane<T, step::unit>* out,
                                             const lane<T, step::unit>* old,
                                             const lane<T, step::unit>* g,
                                             std::integer_sequence<int, J...>,
                                             std::integer_sequence<int, K...>) {
  const auto y = f(seeded<dual<T, Reals::count>, Reals::slot(J)>(item<J>(x)[i])...);
  ((out[K][i] = old[K][i] + g[K][i] * partial_of<K, T>(y)), ...);
}

/// at: the inputs, then out, old and g of each real input; x in rows of n.
template <unsigned Mask, class F, class... X> struct pull_partials {
  using reals = real_inputs<Mask, X...>;
  using T = typename reals::value;

  [[gnu::noinline, gnu::flatten]] static void run(const void* f, index_t m, index_t n,
                                                  std::byte* const* at, const index_t* row) {
    const dimesh::detail::writes_memory kernel;
    each(std::make_integer_sequence<int, reals::inputs>{},
         std::make_integer_sequence<int, reals::count>{}, *static_cast<const F*>(f), m, n, at, row);
  }

 private:
  template <int... J, int... K>
  KOKKOS_FORCEINLINE_FUNCTION static void each(std::integer_sequence<int, J...> inputs,
                                               std::integer_sequence<int, K...> variables, F f,
                                               index_t m, index_t n, std::byte* const* at,
                                               const index_t* row) {
    using Lane = lane<T, step::unit>;
    using Lanes = dimesh::detail::bundle<decltype(input_lane<false, X>(at[0], 0))...>;
    for (index_t i = 0; i < m; ++i) {
      const auto of = [&](int a) { return Lane{reinterpret_cast<T*>(at[a]) + i * row[a]}; };
      const Lanes x(input_lane<false, X>(at[J], i * row[J])...);
      const Lane out[] = {of(reals::inputs + 3 * K)...}, old[] = {of(reals::inputs + 3 * K + 1)...},
                 g[] = {of(reals::inputs + 3 * K + 2)...};
#pragma omp simd simdlen(whole_lanes<T>)
      for (index_t p = 0; p < n; ++p)
        partials_at<T, reals>(p, f, x, out, old, g, inputs, variables);
    }
  }
};

/// at: ybar, the inputs, the cotangents of the real ones, each deposited as How says; an input
/// whose cotangent is a sum is one value a row.
template <unsigned Mask, class How, class F, class B, class... X> struct pull_direct;
template <unsigned Mask, deposit... How, class F, class B, class... X>
struct pull_direct<Mask, std::integer_sequence<deposit, How...>, F, B, X...> {
  using reals = real_inputs<Mask, X...>;
  static constexpr deposit how[] = {How...};

  [[gnu::noinline, gnu::flatten]] static void run(const void* f, index_t m, index_t n,
                                                  std::byte* const* at, const index_t* row) {
    const dimesh::detail::writes_memory kernel;
    each(std::make_integer_sequence<int, reals::inputs>{},
         std::make_integer_sequence<int, reals::count>{}, *static_cast<const F*>(f), m, n, at, row);
  }

 private:
  template <int J> static constexpr bool is_scalar() {
    return reals::slot(J) >= 0 && how[std::max(reals::slot(J), 0)] == deposit::sum;
  }
  template <int K> using input_of = typename types<X...>::template type<reals::place(K)>;
  template <int K>
  using bar_of = std::conditional_t<how[K] == deposit::write, input_of<K>, computed<input_of<K>>>;

  template <int... J, int... K>
  KOKKOS_FORCEINLINE_FUNCTION static void each(std::integer_sequence<int, J...>,
                                               std::integer_sequence<int, K...>, const F& f,
                                               index_t m, index_t n, std::byte* const* at,
                                               const index_t* row) {
    using P =
        pullback<typename reals::value, std::integer_sequence<int, reals::slot(J)...>, How...>;
    constexpr int bars = 1 + reals::inputs;
    for (index_t i = 0; i < m; ++i) {
      pullback_row<P, F>{f}(
          n, row_of<const B>{reinterpret_cast<const B*>(at[0]) + i * row[0]},
          std::conditional_t<is_scalar<J>(), value_of_row<const X>, row_of<const X>>{
              reinterpret_cast<const X*>(at[1 + J]) + i * row[1 + J]}...,
          std::conditional_t < how[K] == deposit::sum, value_of_row<bar_of<K>>,
          row_of < bar_of < K >>>
              {reinterpret_cast<bar_of<K>*>(at[bars + K]) + i * row[bars + K]}...);
    }
  }
};

/// at: ybar, the inputs, the cotangent of the first real one, which alone is wanted. Still: of two
/// inputs the other one is one value a row.
template <unsigned Mask, bool Still, class F, class B, class... X> struct pull_first {
  using reals = real_inputs<Mask, X...>;
  using First = typename types<X...>::template type<reals::place(0)>;

  [[gnu::noinline, gnu::flatten]] static void run(const void* f, index_t m, index_t n,
                                                  std::byte* const* at, const index_t* row) {
    const dimesh::detail::writes_memory kernel;
    each(std::make_integer_sequence<int, reals::inputs>{}, *static_cast<const F*>(f), m, n, at,
         row);
  }

 private:
  template <int... J>
  KOKKOS_FORCEINLINE_FUNCTION static void each(std::integer_sequence<int, J...>, const F& f,
                                               index_t m, index_t n, std::byte* const* at,
                                               const index_t* row) {
    using Slots = std::integer_sequence<int, (reals::slot(J) == 0 ? 0 : -1)...>;
    using P = pullback<computed<First>, Slots, deposit::write>;
    constexpr int bar = 1 + reals::inputs;
    for (index_t i = 0; i < m; ++i) {
      pullback_row<P, F>{f}(
          n, row_of<const B>{reinterpret_cast<const B*>(at[0]) + i * row[0]},
          std::conditional_t < Still && reals::slot(J) != 0, value_of_row<const X>,
          row_of < const X >> {reinterpret_cast<const X*>(at[1 + J]) + i * row[1 + J]}...,
          row_of<First>{reinterpret_cast<First*>(at[bar]) + i * row[bar]});
    }
  }
};

/// What becomes of partial derivatives p and cotangents g of y, both (n) or (m, n) and dense, at a
/// place for cotangents of X: of no function's types.
template <class T, class X> struct deposits {
  using Sum = computed<X>;
  static void write(index_t n, const void* p_at, const void* g_at, void* to) {
    const dimesh::detail::writes_memory kernel;
    const T *p = static_cast<const T*>(p_at), *g = static_cast<const T*>(g_at);
    X* bar = static_cast<X*>(to);
#pragma omp simd
    for (index_t i = 0; i < n; ++i) dimesh::store(bar[i], g[i] * p[i]);
  }
  static void sum(index_t n, const void* p_at, const void* g_at, void* to) {
    const dimesh::detail::writes_memory kernel;
    const T *p = static_cast<const T*>(p_at), *g = static_cast<const T*>(g_at);
    T total{};
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : total)
    for (index_t i = 0; i < n; ++i) total += g[i] * p[i];
    *static_cast<Sum*>(to) += total;
  }
  /// bar (n) += the rows of g p (m, n), in their order.
  static void add(index_t m, index_t n, const void* p_at, const void* g_at, void* to) {
    const dimesh::detail::writes_memory kernel;
    const T *p = static_cast<const T*>(p_at), *g = static_cast<const T*>(g_at);
    Sum* bar = static_cast<Sum*>(to);
    if (m == 1 || n > short_row || !std::is_same_v<T, Sum>) {
      for (index_t r = 0; r < m; ++r) {
#pragma omp simd
        for (index_t i = 0; i < n; ++i) bar[i] += g[r * n + i] * p[r * n + i];
      }
      return;
    }
    for (index_t j = 0; j < n; j += stage_slack) add_columns(m, n, j, p, g, bar);
  }

 private:
  /// Sixteen columns stay in registers; those beyond the row belong to the next one: dropped.
  static void add_columns(index_t m, index_t n, index_t j, const T* p, const T* g, Sum* bar) {
    const dimesh::detail::writes_memory kernel;
    constexpr index_t lanes = stage_slack;
    const index_t have = std::min(lanes, n - j), safe = m * n - j - lanes;
    const index_t whole = safe < 0 ? 0 : std::min(m, safe / n + 1);
    Sum sums[lanes] = {};
    for (index_t l = 0; l < have; ++l) sums[l] = bar[j + l];
    index_t r = 0;
    for (; r < whole; ++r) {
#pragma omp simd
      for (index_t l = 0; l < lanes; ++l) sums[l] += g[r * n + j + l] * p[r * n + j + l];
    }
    for (; r < m; ++r) {
      for (index_t l = 0; l < have; ++l) sums[l] += g[r * n + j + l] * p[r * n + j + l];
    }
    for (index_t l = 0; l < have; ++l) bar[j + l] = sums[l];
  }
};

/// ybar in the type that is computed in.
template <class B, class T> void widen_row(index_t n, const void* from, void* to) {
  const dimesh::detail::writes_memory kernel;
#pragma omp simd
  for (index_t i = 0; i < n; ++i)
    static_cast<T*>(to)[i] = static_cast<T>(static_cast<const B*>(from)[i]);
}

/// What `partials` reads where it is to write, or to give the derivative itself.
template <class T, int Value>
inline constexpr auto constant_row = [] {
  std::array<T, joint_rows> row{};
  for (T& x : row) x = Value == 0 ? -T(0) : T(Value);
  return row;
}();

}  // namespace dimesh::local::detail

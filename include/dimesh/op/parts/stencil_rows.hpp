// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which loops does a stencil run? Over rows of points; inputs lie in memory with their halos
// around them, so a neighbour is a fixed distance away. Extents and strides come with the run.
//
//   points (4, 8) of a block stored as (6, 10): row n begins at 11 + 10 n
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/row.hpp"
#include "dimesh/op/neighborhood.hpp"
#include "dimesh/op/parts/points.hpp"

namespace dimesh::detail {

/// Where the elements of an array lie beside those of points.
template <class T> struct positioned {
  T* first;  // the element at point 0
  index_t step[max_dims + 1]{};  // from point to point along a dim of the points

  positioned(T* data, const tensor_core& x, const tensor_core& points) : first(data) {
    index_t stride[max_dims + 1], n = 1;
    for (int d = x.rank() - 1; d >= 0; --d) {
      stride[d] = n;
      first += x.layout().halo[d].before * n;
      n *= x.local(d);
    }
    for (int d = 0; d < points.rank(); ++d) {
      const int place = x.facts->place_of(points.facts->dim[d]);
      step[d] = place < 0 ? 0 : stride[place];
    }
  }
  /// The place of the row of points at these coordinates, all but the last of dims 0 ... Last.
  template <int Last> KOKKOS_FORCEINLINE_FUNCTION T* row(const index_t* at) const {
    T* p = first;
    for (int d = 0; d < Last; ++d) p += at[d] * step[d];
    return p;
  }
  /// From one row to the next.
  template <int Last> KOKKOS_FORCEINLINE_FUNCTION index_t across() const {
    return Last > 0 ? step[Last - 1] : 0;
  }
};
/// The dims of the points along which it moves, as a mask.
template <class T> unsigned dims_of(const positioned<T>& x, int rank) {
  unsigned mask = 0;
  for (int d = 0; d < rank; ++d) mask |= x.step[d] != 0 ? 1u << d : 0u;
  return mask;
}

/// How an operand with dims Dims moves along a row of points.
template <class Dims, class Points>
inline constexpr local::step row_step = [] {
  constexpr int place = places<Points, Dims>::at[Points::size > 0 ? Points::size - 1 : 0];
  if (Points::size == 0 || place == Dims::size - 1) return local::step::unit;
  return place < 0 ? local::step::zero : local::step::strided;
}();

template <local::step Row>
KOKKOS_FORCEINLINE_FUNCTION constexpr index_t along_row(index_t j, index_t step) {
  return Row == local::step::unit ? j : Row == local::step::zero ? 0 : j * step;
}

/// An operand that a function sees as V.
template <class V, local::step Row> struct lattice {
  using T = typename V::value_type;
  positioned<const T> at;
  distances<V> far;

  lattice(const tensor_core& x, const tensor_core& points) : at(x.data<const T>(), x, points) {
    for (int d = 0; d < V::rank; ++d) far.stride[d] = x.stride(d);
  }
};

/// Rows of an operand: what a function sees at the j-th point of the i-th.
template <class V, local::step Row> struct value_rows {
  const typename V::value_type* first;
  distances<V> far;
  index_t step, across;
  KOKKOS_FORCEINLINE_FUNCTION value_rows row(index_t i) const {
    return {first + i * across, far, step, across};
  }
  KOKKOS_FORCEINLINE_FUNCTION seen_values<V> at(index_t j) const {
    return {first + along_row<Row>(j, step), far};
  }
};
/// All of its own: made of value_rows, it would be kept in memory in the vectorised loop.
template <class V, local::step Row> struct dual_rows {
  const typename V::value_type* first;
  distances<V> far;
  index_t step, across, variable;
  KOKKOS_FORCEINLINE_FUNCTION dual_rows row(index_t i) const {
    return {first + i * across, far, step, across, variable};
  }
  KOKKOS_FORCEINLINE_FUNCTION seen_duals<V> at(index_t j) const {
    return {first + along_row<Row>(j, step), far, variable};
  }
};
template <int Last, class V, local::step Row>
KOKKOS_FORCEINLINE_FUNCTION value_rows<V, Row> values_along(const lattice<V, Row>& l,
                                                            const index_t* at) {
  return {l.at.template row<Last>(at), l.far, l.at.step[Last], l.at.template across<Last>()};
}

/// A function's value at the j-th point of rows. On its own, so that what the function sees is not
/// taken for a private array of the vectorised loop.
template <class F, class... P>
KOKKOS_FORCEINLINE_FUNCTION auto at_point(const F& f, index_t j, const P&... rows) {
  return f(rows.at(j)...);
}

/// out[i] = f(neighbourhoods of i). Last: the dim along which rows of points run.
template <int Last, class F, class R, class... L> struct stencil_rows {
  F f;
  positioned<R> out;
  bundle_of<L...> in;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const index_t* at, index_t m, index_t from,
                                              index_t to) const {
    run(std::index_sequence_for<L...>{}, at, m, from, to);
  }

 private:
  static constexpr index_t few_points = 4;
  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void run(std::index_sequence<K...>, const index_t* at, index_t m,
                                       index_t from, index_t to) const {
    loops(f, out.template row<Last>(at), out.template across<Last>(), m, from, to,
          values_along<Last>(item<K>(in), at)...);
  }
  template <class... P>
  [[gnu::flatten]] static KOKKOS_INLINE_FUNCTION void loops(const F g, R* const to, index_t across,
                                                            index_t m, index_t begin, index_t end,
                                                            const P... in) {
    const dimesh::detail::writes_memory kernel;
    if (end - begin < few_points)  // edges: a row's loop costs more than its points
      for (index_t i = 0; i < m; ++i)
        for (index_t j = begin; j < end; ++j)
          store(to[i * across + j], at_point(g, j, in.row(i)...));
    else
      for (index_t i = 0; i < m; ++i) loop(g, to + i * across, begin, end, in.row(i)...);
  }
  template <class... P>
  static KOKKOS_FORCEINLINE_FUNCTION void loop(const F& g, R* const row, index_t begin, index_t end,
                                               const P... in) {
#pragma omp simd
    for (index_t j = begin; j < end; ++j) store(row[j], at_point(g, j, in...));
  }
};

/// bar[i + away] += ybar[i] times df/d(the neighbour of operand K at the distance `away`). bar is
/// stored like operand K, its elements are of the type that is computed in.
template <std::size_t K, int Last, class F, class B, class... L> struct stencil_back_rows;
template <std::size_t K, int Last, class F, class B, class... V, local::step... Row>
struct stencil_back_rows<K, Last, F, B, lattice<V, Row>...> {
  using T = computed<typename item_type<K, bundle<V...>>::value_type>;
  static constexpr local::step row_step_of_bar = [] {
    constexpr local::step all[] = {Row...};
    return all[K];
  }();
  F f;
  positioned<const B> ybar;
  bundle_of<lattice<V, Row>...> in;
  positioned<T> bar;
  index_t away;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const index_t* at, index_t m, index_t from,
                                              index_t to) const {
    run(std::index_sequence_for<V...>{}, at, m, from, to);
  }

 private:
  /// Rows of the cotangent of y, and of that of the operand.
  struct bars {
    const B* given;
    index_t given_across;
    T* sums;
    index_t step, across;
  };
  template <std::size_t... I>
  KOKKOS_FORCEINLINE_FUNCTION void run(std::index_sequence<I...>, const index_t* at, index_t m,
                                       index_t from, index_t to) const {
    const bars b{ybar.template row<Last>(at), ybar.template across<Last>(),
                 bar.template row<Last>(at) + away, bar.step[Last], bar.template across<Last>()};
    loops(f, b, m, from, to, seen_rows < I == K > (item<I>(in), at)...);
  }
  template <class... P>
  [[gnu::flatten]] static KOKKOS_INLINE_FUNCTION void loops(const F g, const bars b, index_t m,
                                                            index_t begin, index_t end,
                                                            const P... in) {
    const dimesh::detail::writes_memory kernel;
    for (index_t i = 0; i < m; ++i)
      loop(g, b.given + i * b.given_across, b.sums + i * b.across, b.step, begin, end,
           in.row(i)...);
  }
  template <class... P>
  static KOKKOS_FORCEINLINE_FUNCTION void loop(const F& g, const B* const given, T* const sums,
                                               const index_t step, index_t begin, index_t end,
                                               const P... in) {
    if constexpr (row_step_of_bar == local::step::zero) {
      T sum{};
#pragma omp simd reduction(+ : sum)
      for (index_t j = begin; j < end; ++j) sum += given[j] * slope(at_point(g, j, in...));
      *sums += sum;
    } else {
#pragma omp simd
      for (index_t j = begin; j < end; ++j)
        sums[along_row<row_step_of_bar>(j, step)] += given[j] * slope(at_point(g, j, in...));
    }
  }
  template <bool Variable, class X, local::step S>
  KOKKOS_FORCEINLINE_FUNCTION auto seen_rows(const lattice<X, S>& l, const index_t* at) const {
    const value_rows<X, S> values = values_along<Last>(l, at);
    if constexpr (Variable)
      return dual_rows<X, S>{values.first, values.far, values.step, values.across, away};
    else
      return values;
  }
  template <class D> static KOKKOS_FORCEINLINE_FUNCTION auto slope(const D& v) {
    if constexpr (is_dual<D>)
      return v.partial[0];
    else
      return computed<B>(0);
  }
};

}  // namespace dimesh::detail

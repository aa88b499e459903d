// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which loops does a stencil run? Over rows of points; inputs lie in memory with their halos
// around them, so a neighbour is a fixed distance away.
//
//   points (4, 8) of a block stored as (6, 10): row n begins at 11 + 10 n
#pragma once

#include <tuple>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/op/neighborhood.hpp"

namespace dimesh::detail {

/// Where an operand's elements lie beside those of the points: strides by dim of the points (Dims).
template <class S, class Dims> struct lattice {
  using spec_type = S;
  using T = typename S::value_type;
  static constexpr int rank = Dims::size;
  static constexpr const auto& place = places<Dims, typename S::dims>::at;
  static constexpr bool unit_row = rank > 0 && place[rank > 0 ? rank - 1 : 0] == S::rank - 1;
  static constexpr bool lacks_any = S::rank < rank;
  static constexpr bool lacks_row = rank > 0 && place[rank > 0 ? rank - 1 : 0] < 0;

  T* first;  // the element at point 0
  index_t step[rank + 1] = {};
  distances<S> far;

  template <class X> lattice(T* data, const X& x) : first(data) {
    index_t n = 1;
    for (int d = S::rank - 1; d >= 0; --d) {
      far.stride[d] = n;
      first += S::table.halo[d] * n;
      n *= x.local(d);
    }
    for (int d = 0; d < rank; ++d) step[d] = place[d] < 0 ? 0 : far.stride[place[d]];
  }
  KOKKOS_FORCEINLINE_FUNCTION index_t along_row() const {
    if constexpr (unit_row)
      return 1;
    else if constexpr (lacks_row || rank == 0)
      return 0;
    else
      return step[rank - 1];
  }
  /// The place of the first point of row n; extents are those of the points.
  KOKKOS_FORCEINLINE_FUNCTION T* row(index_t n, const index_t* extent) const {
    T* p = first;
    for (int d = rank - 2; d >= 0; --d) {
      p += n % extent[d] * step[d];
      n /= extent[d];
    }
    return p;
  }
};

/// A row of an operand: what a function sees at its j-th point.
template <class S, class D> struct row_values {
  const typename S::value_type* first;
  distances<S> far;
  index_t step;
  KOKKOS_FORCEINLINE_FUNCTION index_t place(index_t j) const {
    if constexpr (lattice<S, D>::unit_row)
      return j;
    else
      return j * step;
  }
  KOKKOS_FORCEINLINE_FUNCTION seen_values<S> at(index_t j) const { return {first + place(j), far}; }
};
template <class S, class D> struct row_duals {
  const typename S::value_type* first;
  distances<S> far;
  index_t step, variable;
  KOKKOS_FORCEINLINE_FUNCTION seen_duals<S> at(index_t j) const {
    if constexpr (lattice<S, D>::unit_row)
      return {first + j, far, variable};
    else
      return {first + j * step, far, variable};
  }
};

/// A function's value at the j-th point of rows. On its own, so that what the function sees is not
/// taken for a private array of the vectorised loop.
template <class F, class... P>
KOKKOS_FORCEINLINE_FUNCTION auto at_point(const F& f, index_t j, const P&... rows) {
  return f(rows.at(j)...);
}

inline constexpr bool serial = std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::Serial>;

/// All points, row by row; a device takes each point for itself. Row is called with the place of a
/// row and a range of it.
template <class Row> struct each_row {
  Row row;
  index_t length;
  KOKKOS_INLINE_FUNCTION void operator()(index_t n) const {
    if constexpr (on_host)
      row(n, 0, length);
    else
      row(n / length, n % length, n % length + 1);
  }
};
template <int R>
KOKKOS_FORCEINLINE_FUNCTION index_t length_of_row(const std::array<index_t, R + 1>& extent) {
  return extent[R > 0 ? R - 1 : 0];  // without dims: the 1 behind the extents
}
template <int R, class Row>
void for_each_row(const std::array<index_t, R + 1>& extent, const Row& row) {
  const index_t length = length_of_row<R>(extent);
  index_t rows = 1;
  for (int d = 0; d + 1 < R; ++d) rows *= extent[static_cast<std::size_t>(d)];
  if (rows * length == 0) return;
  const each_row<Row> body{row, length};
  Kokkos::parallel_for(
      "dimesh::stencil",
      Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace, Kokkos::IndexType<index_t>>(
          0, on_host ? rows : rows * length),
      body);
}
/// The extents of the points, and a 1 behind them.
template <class Y> auto points_of(const Y& y) {
  std::array<index_t, Y::rank + 1> n{};
  for (int d = 0; d < Y::rank; ++d) n[static_cast<std::size_t>(d)] = y.block(d).length;
  n[Y::rank] = 1;
  return n;
}

/// out[i] = f(neighbourhoods of i). The points are (extent...); inputs are larger by their halos.
template <class F, int R, class Out, class... L> struct stencil_row {
  F f;
  Out out;
  std::array<index_t, R + 1> extent;
  std::tuple<L...> in;

  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void run(std::index_sequence<K...>, index_t n, index_t from,
                                       index_t to) const {
    loop(f, out.row(n, extent.data()), from, to, row_of(std::get<K>(in), n)...);
  }
  template <class T, class... P>
  [[gnu::flatten]] static KOKKOS_INLINE_FUNCTION void loop(const F g, T* const row, index_t from,
                                                           index_t to, const P... in) {
    dimesh::detail::writes_memory();
#pragma omp simd
    for (index_t j = from; j < to; ++j) row[j] = at_point(g, j, in...);
  }
  template <class S, class D>
  KOKKOS_FORCEINLINE_FUNCTION row_values<S, D> row_of(const lattice<S, D>& l, index_t n) const {
    return {l.row(n, extent.data()), l.far, l.along_row()};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(index_t n, index_t from, index_t to) const {
    run(std::index_sequence_for<L...>{}, n, from, to);
  }
};

/// bar[i + away] += bar of f at i times df/d(the neighbour of operand V at the distance `away`).
/// bar is stored like operand V.
template <std::size_t V, class F, class T, int R, class... L> struct stencil_back_row {
  using wanted = std::tuple_element_t<V, std::tuple<L...>>;
  F f;
  const T* ybar;
  std::array<index_t, R + 1> extent;
  std::tuple<L...> in;
  wanted bar;
  index_t away;

  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION void run(std::index_sequence<K...>, index_t n, index_t from,
                                       index_t to) const {
    loop(f, ybar + n * length_of_row<R>(extent), bar.row(n, extent.data()) + away, bar.along_row(),
         from, to, row_of < K == V > (std::get<K>(in), n)...);
  }
  template <class U, class... P>
  [[gnu::flatten]] static KOKKOS_INLINE_FUNCTION void loop(const F g, const T* const given,
                                                           U* const sums, const index_t step,
                                                           index_t from, index_t to,
                                                           const P... in) {
    dimesh::detail::writes_memory();
    if constexpr (wanted::lacks_row) {
      U sum{};
#pragma omp simd reduction(+ : sum)
      for (index_t j = from; j < to; ++j) sum += given[j] * slope(at_point(g, j, in...));
      add(sums, sum);
    } else if constexpr (wanted::lacks_any) {
      for (index_t j = from; j < to; ++j)
        add(sums + j * step, given[j] * slope(at_point(g, j, in...)));
    } else if constexpr (wanted::unit_row) {
#pragma omp simd
      for (index_t j = from; j < to; ++j) sums[j] += given[j] * slope(at_point(g, j, in...));
    } else {
#pragma omp simd
      for (index_t j = from; j < to; ++j) sums[j * step] += given[j] * slope(at_point(g, j, in...));
    }
  }
  template <bool Variable, class S, class D>
  KOKKOS_FORCEINLINE_FUNCTION auto row_of(const lattice<S, D>& l, index_t n) const {
    if constexpr (Variable)
      return row_duals<S, D>{l.row(n, extent.data()), l.far, l.along_row(), away};
    else
      return row_values<S, D>{l.row(n, extent.data()), l.far, l.along_row()};
  }
  template <class D> static KOKKOS_FORCEINLINE_FUNCTION auto slope(const D& v) {
    if constexpr (is_dual<D>)
      return v.partial[0];
    else
      return T(0);
  }
  template <class U> static KOKKOS_FORCEINLINE_FUNCTION void add(U* to, U v) {
    if constexpr (serial)
      *to += v;
    else
      Kokkos::atomic_add(to, v);  // several points share what an operand without their dims has
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(index_t n, index_t from, index_t to) const {
    run(std::index_sequence_for<L...>{}, n, from, to);
  }
};

}  // namespace dimesh::detail

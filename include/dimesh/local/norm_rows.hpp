// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is norm.hpp on a device? Thirty-two threads share a row, so that neighbours read neighbours,
// and the cotangents of gain and bias, which sum over rows, come from parts of each column: sums
// are made in a fixed order.
//
//   normalize_rows<true, Space>(rows, n, eps, x, gain, bias, y)
//   normalize_transpose_rows<true, Space>(rows, n, eps, ybar, x, gain, xbar, gain_bar, bias_bar)
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/math.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::local::detail {

/// Of a row. The mean of numbers far from zero is rounded by as much as they differ: `rest` is what
/// it lacks.
template <class T> struct moments {
  T mean, rest, scale;  // scale = 1 / sqrt(var + eps)
  KOKKOS_INLINE_FUNCTION T moved(T x) const { return (x - mean) - rest; }
};
/// first + beyond as a mean and its rest, without rounding (Knuth, The Art of Computer Programming,
/// volume 2, section 4.2.2, theorem B).
template <class T> KOKKOS_INLINE_FUNCTION moments<T> moments_from(T first, T beyond, T scale) {
  const T mean = first + beyond, moved = mean - first;
  return {mean, (first - (mean - moved)) + (beyond - moved), scale};
}

/// How many threads share a row, and how many rows a part of a column has.
inline constexpr index_t row_shares = 32, column_part = 64;

template <class T> KOKKOS_FUNCTION T sum_of_shares(const T* share, index_t r) {
  T sum = 0;
  for (index_t l = 0; l < row_shares; ++l) sum += share[r * row_shares + l];
  return sum;
}

/// Shares of the sum of a row's differences to its first element: moments come from those.
template <class T> struct row_sum_share {
  index_t n;
  const T* x;
  T* sums;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const T* const row = x + e / row_shares * n;
    T sum = 0;
    for (index_t i = e % row_shares; i < n; i += row_shares) sum += row[i] - row[0];
    sums[e] = sum;
  }
};
/// Shares of the sum of squares of what is left without the mean.
template <bool Center, class T> struct row_square_share {
  index_t n;
  const T *x, *sums;
  T* squares;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const index_t r = e / row_shares;
    const T* const row = x + r * n;
    const T first = Center && n > 0 ? row[0] : T(0);
    const T mean = Center ? sum_of_shares(sums, r) / static_cast<T>(n) : T(0);
    T square = 0;
    for (index_t i = e % row_shares; i < n; i += row_shares) {
      const T u = (row[i] - first) - mean;
      square += u * u;
    }
    squares[e] = square;
  }
};
template <bool Center, class T> struct row_moments {
  index_t n;
  T eps;
  const T *x, *sums, *squares;
  moments<T>* moment;
  KOKKOS_FUNCTION void operator()(index_t r) const {
    const T size = static_cast<T>(n), first = Center && n > 0 ? x[r * n] : T(0);
    moment[r] = moments_from(first, Center ? sum_of_shares(sums, r) / size : T(0),
                             T(1) / dimesh::sqrt(sum_of_shares(squares, r) / size + eps));
  }
};
template <class T> struct normalized_element {
  index_t n;
  const T *x, *gain, *bias;
  const moments<T>* moment;
  T* y;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const auto [r, i] = divided(e, n);
    T u = moment[r].moved(x[e]) * moment[r].scale;
    if (gain != nullptr) u *= gain[i];
    y[e] = bias != nullptr ? u + bias[i] : u;
  }
};

/// What the way back sums over a row.
template <class T> struct norm_pull {
  index_t n;
  const T *ybar, *x, *gain;
  const moments<T>* moment;
  KOKKOS_INLINE_FUNCTION T gained(index_t r, index_t i) const {
    return gain != nullptr ? ybar[r * n + i] * gain[i] : ybar[r * n + i];
  }
  KOKKOS_INLINE_FUNCTION T moved(index_t r, index_t i) const {
    return moment[r].moved(x[r * n + i]);
  }
};
template <class T> struct row_slope_share {
  norm_pull<T> of;
  T *sums, *alongs;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const index_t r = e / row_shares;
    T sum = 0, along = 0;
    for (index_t i = e % row_shares; i < of.n; i += row_shares) {
      const T g = of.gained(r, i);
      sum += g;
      along += g * of.moved(r, i);
    }
    sums[e] = sum, alongs[e] = along;
  }
};
/// The share 0 of each sum becomes what every element of the row subtracts.
template <bool Center, class T> struct row_slope {
  norm_pull<T> of;
  T *sums, *alongs;
  KOKKOS_FUNCTION void operator()(index_t r) const {
    const T size = static_cast<T>(of.n), scale = of.moment[r].scale;
    sums[r * row_shares] = Center ? sum_of_shares(sums, r) / size : T(0);
    alongs[r * row_shares] = sum_of_shares(alongs, r) * scale * scale / size;
  }
};
template <class T> struct norm_pulled_element {
  norm_pull<T> of;
  const T *sums, *alongs;
  T* xbar;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const auto [r, i] = divided(e, of.n);
    xbar[e] = of.moment[r].scale *
              (of.gained(r, i) - sums[r * row_shares] - of.moved(r, i) * alongs[r * row_shares]);
  }
};
/// The cotangents of gain and bias from a part of the rows.
template <class T> struct norm_pulled_part {
  norm_pull<T> of;
  index_t rows;
  T *gains, *biases;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const auto [part, i] = divided(e, of.n);
    const index_t end = (part + 1) * column_part < rows ? (part + 1) * column_part : rows;
    T gain = 0, bias = 0;
    for (index_t r = part * column_part; r < end; ++r) {
      const T bar = of.ybar[r * of.n + i];
      gain += bar * of.moved(r, i) * of.moment[r].scale;
      bias += bar;
    }
    gains[e] = gain, biases[e] = bias;
  }
};
template <class T> struct norm_pulled_column {
  index_t parts, n;
  const T *gains, *biases;
  T *gain_bar, *bias_bar;
  KOKKOS_FUNCTION void operator()(index_t i) const {
    const dimesh::detail::writes_memory kernel;
    T gain = 0, bias = 0;
    for (index_t p = 0; p < parts; ++p) gain += gains[p * n + i], bias += biases[p * n + i];
    if (gain_bar != nullptr) gain_bar[i] = gain;
    if (bias_bar != nullptr) bias_bar[i] = bias;
  }
};

/// Scratch memory of rows, and their moments.
template <bool Center, class Space, class T> struct norm_rows_room {
  index_t rows, n;
  dimesh::detail::storage shares, of_rows;
  T *sums, *others;
  moments<T>* moment;

  norm_rows_room(index_t count, index_t width, T eps, const T* x) : rows(count), n(width) {
    const index_t size = rows * row_shares;
    shares = dimesh::detail::storage::acquire(static_cast<std::size_t>(2 * size) * sizeof(T));
    of_rows = dimesh::detail::storage::acquire(static_cast<std::size_t>(rows) * sizeof(moments<T>));
    sums = static_cast<T*>(shares.data()), others = sums + size;
    moment = static_cast<moments<T>*>(of_rows.data());
    if (Center) each_for_itself<Space>(size, row_sum_share<T>{n, x, sums});
    each_for_itself<Space>(size, row_square_share<Center, T>{n, x, sums, others});
    each_for_itself<Space>(rows, row_moments<Center, T>{n, eps, x, sums, others, moment});
  }
};

template <bool Center, class Space, class T>
void normalize_rows(index_t rows, index_t n, T eps, const T* x, const T* gain, const T* bias,
                    T* y) {
  const norm_rows_room<Center, Space, T> room(rows, n, eps, x);
  each_for_itself<Space>(rows * n, normalized_element<T>{n, x, gain, bias, room.moment, y});
}

template <bool Center, class Space, class T>
void normalize_transpose_rows(index_t rows, index_t n, T eps, const T* ybar, const T* x,
                              const T* gain, T* xbar, T* gain_bar, T* bias_bar) {
  const norm_rows_room<Center, Space, T> room(rows, n, eps, x);
  const norm_pull<T> of{n, ybar, x, gain, room.moment};
  T *const sums = room.sums, *const alongs = room.others;
  if (xbar != nullptr) {
    each_for_itself<Space>(rows * row_shares, row_slope_share<T>{of, sums, alongs});
    each_for_itself<Space>(rows, row_slope<Center, T>{of, sums, alongs});
    each_for_itself<Space>(rows * n, norm_pulled_element<T>{of, sums, alongs, xbar});
  }
  if (gain_bar == nullptr && bias_bar == nullptr) return;
  const index_t parts = (rows + column_part - 1) / column_part;
  const auto memory =
      dimesh::detail::storage::acquire(static_cast<std::size_t>(2 * parts * n) * sizeof(T));
  T *const gains = static_cast<T*>(memory.data()), *const biases = gains + parts * n;
  each_for_itself<Space>(parts * n, norm_pulled_part<T>{of, rows, gains, biases});
  each_for_itself<Space>(n, norm_pulled_column<T>{parts, n, gains, biases, gain_bar, bias_bar});
}

}  // namespace dimesh::local::detail

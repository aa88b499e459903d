// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are rows normalised in one pass over memory, and what is the transpose of that? A row is read
// while it lies in the first cache: for its mean and variance, and again for the result. Backward
// both are found anew, so that nothing but the input need be kept.
//
//   normalize<true>(rows, n, eps, x, gain, bias, y)
//     y[r, i] = (x[r, i] - mean_r) / sqrt(var_r + eps) * gain[i] + bias[i]
//   <false>: mean_r = 0, var_r the mean of squares (RMS norm); gain and bias may be null
#pragma once

#include <algorithm>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/math.hpp"
#include "dimesh/local/norm_rows.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/stage.hpp"
#include "dimesh/local/tile.hpp"

namespace dimesh::local {

namespace detail {

/// So many rows are summed side by side: one chain of additions would wait for itself.
inline constexpr index_t norm_rows = 4;

/// x (rows, n) -> mean and scale of its first norm_rows rows. The variance is that of the
/// differences, and these are of elements less the row's first: no digits cancel, even where the
/// mean is far from zero. Rows that are lacking repeat the last, so that every row is summed by the
/// same code, wherever its block begins.
template <bool Center, class T>
void moments_of(index_t rows, index_t n, const T* x, T eps, moments<T>* to) {
  const dimesh::detail::writes_memory kernel;
  const auto row = [=](index_t r) { return x + std::min(r, rows - 1) * n; };
  const T *a = row(0), *b = row(1), *c = row(2), *d = row(3);
  T mean[norm_rows] = {}, square[norm_rows];
  T first_a = 0, first_b = 0, first_c = 0, first_d = 0;
  T sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
  if (Center && n > 0) {
    first_a = a[0], first_b = b[0], first_c = c[0], first_d = d[0];
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum_a, sum_b, sum_c, sum_d)
    for (index_t i = 0; i < n; ++i) {
      sum_a += a[i] - first_a, sum_b += b[i] - first_b;
      sum_c += c[i] - first_c, sum_d += d[i] - first_d;
    }
    const T size = static_cast<T>(n);
    mean[0] = sum_a / size, mean[1] = sum_b / size, mean[2] = sum_c / size, mean[3] = sum_d / size;
  }
  const T mean_a = mean[0], mean_b = mean[1], mean_c = mean[2], mean_d = mean[3];
  sum_a = sum_b = sum_c = sum_d = 0;
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum_a, sum_b, sum_c, sum_d)
  for (index_t i = 0; i < n; ++i) {
    const T at_a = (a[i] - first_a) - mean_a, at_b = (b[i] - first_b) - mean_b;
    const T at_c = (c[i] - first_c) - mean_c, at_d = (d[i] - first_d) - mean_d;
    sum_a += at_a * at_a, sum_b += at_b * at_b;
    sum_c += at_c * at_c, sum_d += at_d * at_d;
  }
  square[0] = sum_a, square[1] = sum_b, square[2] = sum_c, square[3] = sum_d;
  const T first[norm_rows] = {first_a, first_b, first_c, first_d};
  for (index_t r = 0; r < norm_rows; ++r)
    to[r] =
        moments_from(first[r], mean[r], T(1) / dimesh::sqrt(square[r] / static_cast<T>(n) + eps));
}

/// x, y (rows, n), one row after the other.
template <bool Center, class T>
void normalize_some(index_t rows, index_t n, T eps, const T* x, const T* gain, const T* bias,
                    T* y) {
  const dimesh::detail::writes_memory kernel;
  moments<T> of[norm_rows];
  for (index_t r = 0; r < rows; ++r, x += n, y += n) {
    if (r % norm_rows == 0) moments_of<Center>(rows - r, n, x, eps, of);
    const moments<T> m = of[r % norm_rows];
    const T scale = m.scale;
    if (gain != nullptr && bias != nullptr) {
#pragma omp simd simdlen(whole_lanes<T>)
      for (index_t i = 0; i < n; ++i) y[i] = m.moved(x[i]) * scale * gain[i] + bias[i];
    } else if (gain != nullptr) {
#pragma omp simd simdlen(whole_lanes<T>)
      for (index_t i = 0; i < n; ++i) y[i] = m.moved(x[i]) * scale * gain[i];
    } else {
#pragma omp simd simdlen(whole_lanes<T>)
      for (index_t i = 0; i < n; ++i) y[i] = m.moved(x[i]) * scale;
    }
  }
}

/// The same of the transpose: gain_bar and bias_bar are the sums over these rows.
template <bool Center, class T>
void normalize_transpose_some(index_t rows, index_t n, T eps, const T* ybar, const T* x,
                              const T* gain, T* xbar, T* gain_bar, T* bias_bar) {
  const dimesh::detail::writes_memory kernel;
  if (gain_bar != nullptr) std::fill_n(gain_bar, n, T(0));
  if (bias_bar != nullptr) std::fill_n(bias_bar, n, T(0));
  moments<T> of[norm_rows];
  for (index_t r = 0; r < rows; ++r, x += n, ybar += n) {
    if (r % norm_rows == 0) moments_of<Center>(rows - r, n, x, eps, of);
    const moments<T> m = of[r % norm_rows];
    const T scale = m.scale;
    if (gain_bar != nullptr) {
#pragma omp simd simdlen(whole_lanes<T>)
      for (index_t i = 0; i < n; ++i) gain_bar[i] += ybar[i] * m.moved(x[i]) * scale;
    }
    if (bias_bar != nullptr) {
#pragma omp simd simdlen(whole_lanes<T>)
      for (index_t i = 0; i < n; ++i) bias_bar[i] += ybar[i];
    }
    if (xbar == nullptr) continue;
    // with u the normalised row and g = ybar * gain: xbar = scale (g - mean(g) - u mean(g u))
    T sum = 0, along = 0;
    const auto gained = [=](index_t i) { return gain != nullptr ? ybar[i] * gain[i] : ybar[i]; };
#pragma omp simd simdlen(whole_lanes<T>) reduction(+ : sum, along)
    for (index_t i = 0; i < n; ++i) {
      const T g = gained(i);
      sum += g;
      along += g * m.moved(x[i]);
    }
    const T drift = Center ? sum / static_cast<T>(n) : T(0);
    const T slope = along * scale * scale / static_cast<T>(n);
#pragma omp simd simdlen(whole_lanes<T>)
    for (index_t i = 0; i < n; ++i) xbar[i] = scale * (gained(i) - drift - m.moved(x[i]) * slope);
    xbar += n;
  }
}

/// to (n) = the sum of `parts` rows that lie `apart` from each other
template <class T> void add_rows_up(index_t parts, index_t n, const T* from, index_t apart, T* to) {
  const dimesh::detail::writes_memory kernel;
  std::copy_n(from, n, to);
  for (index_t p = 1; p < parts; ++p) {
    const T* const more = from + p * apart;
#pragma omp simd
    for (index_t i = 0; i < n; ++i) to[i] += more[i];
  }
}

}  // namespace detail

/// x, y (rows, n); gain, bias (n) or null.
template <bool Center, class T, class Space = default_space>
void normalize(index_t rows, index_t n, T eps, const T* x, const T* gain, const T* bias, T* y) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::normalize_rows<Center, Space>(rows, n, eps, x, gain, bias, y);
  in_host_ranges<Space>(rows, [=](index_t first, index_t last) {
    detail::normalize_some<Center>(last - first, n, eps, x + first * n, gain, bias, y + first * n);
  });
}

/// ybar, x (rows, n), gain (n) or null -> xbar (rows, n), gain_bar (n), bias_bar (n); results that
/// are null are not wanted.
template <bool Center, class T, class Space = default_space>
void normalize_transpose(index_t rows, index_t n, T eps, const T* ybar, const T* x, const T* gain,
                         T* xbar, T* gain_bar, T* bias_bar) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::normalize_transpose_rows<Center, Space>(rows, n, eps, ybar, x, gain, xbar,
                                                             gain_bar, bias_bar);
  using host = detail::host_of<Space>;
  if constexpr (detail::runs_as_call<host>) {
    detail::normalize_transpose_some<Center>(rows, n, eps, ybar, x, gain, xbar, gain_bar, bias_bar);
  } else {
    // Pieces have sums of their own, which are added up in their order.
    const index_t count = std::clamp<index_t>(rows, 1, detail::pieces<host>::most());
    const index_t apart = 2 * n + 64;  // no line of cache is shared
    T* const sums = reinterpret_cast<T*>(
        detail::thread_scratch(static_cast<std::size_t>(count * apart) * sizeof(T)));
    detail::launch<host>(count, [=](index_t p) {
      const index_t first = rows * p / count, size = rows * (p + 1) / count - first;
      T* const own = sums + p * apart;
      detail::normalize_transpose_some<Center>(size, n, eps, ybar + first * n, x + first * n, gain,
                                               xbar == nullptr ? xbar : xbar + first * n,
                                               gain_bar == nullptr ? gain_bar : own,
                                               bias_bar == nullptr ? bias_bar : own + n);
    });
    if (gain_bar != nullptr) detail::add_rows_up(count, n, sums, apart, gain_bar);
    if (bias_bar != nullptr) detail::add_rows_up(count, n, sums + n, apart, bias_bar);
  }
}

}  // namespace dimesh::local

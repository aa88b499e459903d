// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is norm.hpp on a device? A thread a row, and for the cotangents of gain and bias, which sum
// over rows, a thread a column: sums are made in a fixed order.
//
//   each_for_itself<Space>(rows, normalized_row<true, float>{n, eps, x, gain, bias, y})
#pragma once

#include "dimesh/local/math.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::local::detail {

template <class T> struct moments {
  T mean, scale;  // scale = 1 / sqrt(var + eps)
};

/// Of a row x (n), as moments_of finds them: from differences to its first element.
template <bool Center, class T>
KOKKOS_FUNCTION moments<T> moments_of_row(index_t n, const T* x, T eps) {
  const T first = Center && n > 0 ? x[0] : T(0), size = static_cast<T>(n);
  T sum = 0, square = 0;
  for (index_t i = 0; Center && i < n; ++i) sum += x[i] - first;
  const T mean = Center ? sum / size : T(0);
  for (index_t i = 0; i < n; ++i) square += ((x[i] - first) - mean) * ((x[i] - first) - mean);
  return {first + mean, T(1) / dimesh::sqrt(square / size + eps)};
}

template <bool Center, class T> struct normalized_row {
  index_t n;
  T eps;
  const T *x, *gain, *bias;
  T* y;

  KOKKOS_FUNCTION void operator()(index_t r) const {
    const T* const from = x + r * n;
    T* const to = y + r * n;
    const moments<T> of = moments_of_row<Center>(n, from, eps);
    for (index_t i = 0; i < n; ++i) {
      T u = (from[i] - of.mean) * of.scale;
      if (gain != nullptr) u *= gain[i];
      to[i] = bias != nullptr ? u + bias[i] : u;
    }
  }
};
/// The moments of a row, and xbar unless it is null.
template <bool Center, class T> struct norm_pulled_row {
  index_t n;
  T eps;
  const T *ybar, *x, *gain;
  T* xbar;
  moments<T>* moment;

  KOKKOS_FUNCTION void operator()(index_t r) const {
    const T *const from = x + r * n, *const bar = ybar + r * n;
    const moments<T> of = moment[r] = moments_of_row<Center>(n, from, eps);
    if (xbar == nullptr) return;
    T sum = 0, along = 0;
    for (index_t i = 0; i < n; ++i) {
      const T g = gain != nullptr ? bar[i] * gain[i] : bar[i];
      sum += g;
      along += g * (from[i] - of.mean);
    }
    const T drift = Center ? sum / static_cast<T>(n) : T(0);
    const T slope = along * of.scale * of.scale / static_cast<T>(n);
    for (index_t i = 0; i < n; ++i) {
      const T g = gain != nullptr ? bar[i] * gain[i] : bar[i];
      xbar[r * n + i] = of.scale * (g - drift - (from[i] - of.mean) * slope);
    }
  }
};
/// The cotangents of the gain and the bias of a column, where they are wanted.
template <class T> struct norm_pulled_column {
  index_t rows, n;
  const T *ybar, *x;
  const moments<T>* moment;
  T *gain_bar, *bias_bar;

  KOKKOS_FUNCTION void operator()(index_t i) const {
    T gains = 0, biases = 0;
    for (index_t r = 0; r < rows; ++r) {
      const T bar = ybar[r * n + i];
      gains += bar * (x[r * n + i] - moment[r].mean) * moment[r].scale;
      biases += bar;
    }
    if (gain_bar != nullptr) gain_bar[i] = gains;
    if (bias_bar != nullptr) bias_bar[i] = biases;
  }
};

template <bool Center, class Space, class T>
void normalize_transpose_rows(index_t rows, index_t n, T eps, const T* ybar, const T* x,
                              const T* gain, T* xbar, T* gain_bar, T* bias_bar) {
  const auto room =
      dimesh::detail::storage::acquire(static_cast<std::size_t>(rows) * sizeof(moments<T>));
  auto* const moment = static_cast<moments<T>*>(room.data());
  each_for_itself<Space>(rows, norm_pulled_row<Center, T>{n, eps, ybar, x, gain, xbar, moment});
  if (gain_bar != nullptr || bias_bar != nullptr)
    each_for_itself<Space>(n, norm_pulled_column<T>{rows, n, ybar, x, moment, gain_bar, bias_bar});
}

}  // namespace dimesh::local::detail

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
#include "dimesh/local/math.hpp"

namespace dimesh::local {

namespace detail {

template <class T> struct moments {
  T mean, scale;  // scale = 1 / sqrt(var + eps)
};

/// x (n) -> its mean and scale. The variance is that of the differences: no digits cancel.
template <bool Center, class T> moments<T> moments_of(index_t n, const T* x, T eps) {
  T mean = 0, square = 0;
  if constexpr (Center) {
#pragma omp simd reduction(+ : mean)
    for (index_t i = 0; i < n; ++i) mean += x[i];
    mean /= static_cast<T>(n);
  }
#pragma omp simd reduction(+ : square)
  for (index_t i = 0; i < n; ++i) square += (x[i] - mean) * (x[i] - mean);
  return {mean, T(1) / dimesh::sqrt(square / static_cast<T>(n) + eps)};
}

}  // namespace detail

/// x, y (rows, n); gain, bias (n) or null.
template <bool Center, class T>
void normalize(index_t rows, index_t n, T eps, const T* x, const T* gain, const T* bias, T* y) {
  for (index_t r = 0; r < rows; ++r, x += n, y += n) {
    const auto row = detail::moments_of<Center>(n, x, eps);
    const T mean = row.mean, scale = row.scale;  // clang captures no structured bindings
    if (gain != nullptr && bias != nullptr) {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
    } else if (gain != nullptr) {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gain[i];
    } else {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale;
    }
  }
}

/// ybar, x (rows, n), gain (n) or null -> xbar (rows, n), gain_bar (n), bias_bar (n); results that
/// are null are not wanted.
template <bool Center, class T>
void normalize_transpose(index_t rows, index_t n, T eps, const T* ybar, const T* x, const T* gain,
                         T* xbar, T* gain_bar, T* bias_bar) {
  if (gain_bar != nullptr) std::fill_n(gain_bar, n, T(0));
  if (bias_bar != nullptr) std::fill_n(bias_bar, n, T(0));
  for (index_t r = 0; r < rows; ++r, x += n, ybar += n) {
    const auto row = detail::moments_of<Center>(n, x, eps);
    const T mean = row.mean, scale = row.scale;  // clang captures no structured bindings
    if (gain_bar != nullptr) {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) gain_bar[i] += ybar[i] * (x[i] - mean) * scale;
    }
    if (bias_bar != nullptr) {
#pragma omp simd
      for (index_t i = 0; i < n; ++i) bias_bar[i] += ybar[i];
    }
    if (xbar == nullptr) continue;
    // with u the normalised row and g = ybar * gain: xbar = scale (g - mean(g) - u mean(g u))
    T sum = 0, along = 0;
    const auto gained = [=](index_t i) { return gain != nullptr ? ybar[i] * gain[i] : ybar[i]; };
#pragma omp simd reduction(+ : sum, along)
    for (index_t i = 0; i < n; ++i) {
      const T g = gained(i);
      sum += g;
      along += g * (x[i] - mean);
    }
    const T drift = Center ? sum / static_cast<T>(n) : T(0);
    const T slope = along * scale * scale / static_cast<T>(n);
#pragma omp simd
    for (index_t i = 0; i < n; ++i) xbar[i] = scale * (gained(i) - drift - (x[i] - mean) * slope);
    xbar += n;
  }
}

}  // namespace dimesh::local

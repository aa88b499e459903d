// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which passes over memory does the network need besides its products? These, each fused as far as
// it goes and written for the vector unit.
//
//   add_bias_relu(a, b1, b, h)      -> a[b,h] = max(a[b,h] + b1[h], 0) in one pass
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace handwritten {

/// a[rows,columns] = max(a + bias[columns], 0)
inline void add_bias_relu(float* a, const float* bias, int rows, int columns) {
  for (int i = 0; i < rows; ++i) {
    float* const row = a + static_cast<std::size_t>(i) * columns;
#pragma omp simd
    for (int j = 0; j < columns; ++j) {
      const float z = row[j] + bias[j];
      row[j] = z > 0 ? z : 0;
    }
  }
}

/// d[rows,columns] = a > 0 ? d : 0, and its column sums[columns]
inline void mask_and_sum_rows(float* d, const float* a, float* sums, int rows, int columns) {
  std::fill_n(sums, columns, 0.0f);
  for (int i = 0; i < rows; ++i) {
    float* const drow = d + static_cast<std::size_t>(i) * columns;
    const float* const arow = a + static_cast<std::size_t>(i) * columns;
#pragma omp simd
    for (int j = 0; j < columns; ++j) {
      const float v = arow[j] > 0 ? drow[j] : 0;
      drow[j] = v;
      sums[j] += v;
    }
  }
}

/// sums[columns] of d[rows,columns]
inline void sum_rows(const float* d, float* sums, int rows, int columns) {
  std::fill_n(sums, columns, 0.0f);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) sums[j] += d[static_cast<std::size_t>(i) * columns + j];
}

/// e^x for x <= 0, about 2 units in the last place: 2^n times a polynomial on [-ln2/2, ln2/2].
inline float exp_negative(float x) {
  const float t = std::max(x, -87.0f);
  const float n = std::nearbyint(t * 1.44269504f);
  const float r = (t - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

/// y[rows,columns] holds logits less the bias; on return their gradient, (softmax - one_hot)/total.
/// Returns this block's part of the mean loss over `total` rows.
inline double softmax_loss(float* y, const float* bias, const std::int32_t* labels, int rows,
                           int columns, int total) {
  const std::size_t n = static_cast<std::size_t>(rows) * columns;
  double loss = 0;
  for (int i = 0; i < rows; ++i) {
    float* const row = y + static_cast<std::size_t>(i) * columns;
    float high = row[0] + bias[0];
    for (int j = 0; j < columns; ++j) {
      row[j] += bias[j];
      high = std::max(high, row[j]);
    }
    for (int j = 0; j < columns; ++j) row[j] -= high;
    loss -= row[labels[i]];
  }
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) y[i] = exp_negative(y[i]);
  const float scale = 1.0f / static_cast<float>(total);
  for (int i = 0; i < rows; ++i) {
    float* const row = y + static_cast<std::size_t>(i) * columns;
    float sum = 0;
    for (int j = 0; j < columns; ++j) sum += row[j];
    loss += std::log(sum);
    for (int j = 0; j < columns; ++j) row[j] *= scale / sum;
    row[labels[i]] -= scale;
  }
  return loss / total;
}

/// m = mu m + g, w -= lr m
inline void momentum(float* w, float* m, const float* g, std::size_t n, float lr, float mu) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = mu * m[i] + g[i];
    w[i] -= lr * m[i];
  }
}

struct adam_rule {
  float step;  // lr / (1 - beta1^t)
  float inverse;  // 1 / (1 - beta2^t)
  float beta1, beta2, eps;
};

/// m = beta1 m + (1-beta1) g, v = beta2 v + (1-beta2) g^2, w -= step m / (sqrt(inverse v) + eps)
inline void adam(float* w, float* m, float* v, const float* g, std::size_t n, adam_rule r) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = r.beta1 * m[i] + (1 - r.beta1) * g[i];
    v[i] = r.beta2 * v[i] + (1 - r.beta2) * g[i] * g[i];
    w[i] -= r.step * m[i] / (std::sqrt(r.inverse * v[i]) + r.eps);
  }
}

}  // namespace handwritten

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What are the kernels of factored.hpp on a device? A row, a column or an element for itself: every
// sum is made by one thread in a fixed order.
//
//   each_for_itself<Space>(n.rows(), factored_row_sum<float>{n, g, eps, row})
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::local {

/// Extents of an array (A, P, B, Q, C), row-major. Rows are (A, P, B, C), columns (A, B, Q, C).
struct factored_extents {
  index_t A = 1, P = 1, B = 1, Q = 1, C = 1;
  constexpr index_t size() const { return A * P * B * Q * C; }
  constexpr index_t rows() const { return A * P * B * C; }
  constexpr index_t columns() const { return A * B * Q * C; }
  constexpr index_t both() const { return A * B * C; }
};

namespace detail {

/// Where an element of the array has its row and its column.
struct factored_place {
  index_t row, column;
  KOKKOS_FORCEINLINE_FUNCTION factored_place(const factored_extents& n, index_t e) {
    const index_t c = e % n.C, j = e / n.C % n.Q, b = e / n.C / n.Q % n.B;
    const index_t i = e / n.C / n.Q / n.B % n.P, a = e / n.C / n.Q / n.B / n.P;
    row = ((a * n.P + i) * n.B + b) * n.C + c;
    column = ((a * n.B + b) * n.Q + j) * n.C + c;
  }
};

/// row[r] = the sum over Q of g^2 + eps.
template <class T> struct factored_row_sum {
  factored_extents n;
  const T* g;
  T eps;
  T* row;
  KOKKOS_FUNCTION void operator()(index_t r) const {
    const dimesh::detail::writes_memory kernel;
    const T* const x = g + r / n.C * n.Q * n.C + r % n.C;
    T sum = 0;
    for (index_t j = 0; j < n.Q; ++j) sum += x[j * n.C] * x[j * n.C] + eps;
    row[r] = sum;
  }
};
/// col[k] = the sum over P of g^2 + eps.
template <class T> struct factored_column_sum {
  factored_extents n;
  const T* g;
  T eps;
  T* col;
  KOKKOS_FUNCTION void operator()(index_t k) const {
    const dimesh::detail::writes_memory kernel;
    const index_t step = n.B * n.Q * n.C;
    const T* const x = g + k / step * n.P * step + k % step;
    T sum = 0;
    for (index_t i = 0; i < n.P; ++i) sum += x[i * step] * x[i * step] + eps;
    col[k] = sum;
  }
};
template <class T> struct factored_row_share {
  factored_extents n;
  const T* total;
  T* row;
  KOKKOS_FUNCTION void operator()(index_t r) const {
    const index_t step = n.B * n.C;
    row[r] /= total[r / step / n.P * step + r % step];
  }
};
/// square[r] = the sum over Q of (g row col)^2.
template <class T> struct factored_row_square {
  factored_extents n;
  const T *g, *row, *col;
  double* square;
  KOKKOS_FUNCTION void operator()(index_t r) const {
    const dimesh::detail::writes_memory kernel;
    const index_t c = r % n.C, b = r / n.C % n.B, a = r / n.C / n.B / n.P;
    const T* const x = g + r / n.C * n.Q * n.C + c;
    const T* const by = col + (a * n.B + b) * n.Q * n.C + c;
    T sum = 0;
    for (index_t j = 0; j < n.Q; ++j) {
      const T u = x[j * n.C] * row[r] * by[j * n.C];
      sum += u * u;
    }
    square[r] = static_cast<double>(sum);
  }
};
/// p -= factor g row col; with m: m = keep m + factor g row col, p -= m.
template <class T> struct factored_update {
  factored_extents n;
  const T *g, *row, *col;
  T factor;
  T* p;
  T* m;
  T keep;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const factored_place at(n, e);
    T u = factor * g[e] * row[at.row] * col[at.column];
    if (m != nullptr) m[e] = u = keep * m[e] + u;
    p[e] -= u;
  }
};

/// Of blend.
template <class T> struct blended_element {
  T* average;
  T* sum;
  T keep, by;
  KOKKOS_FUNCTION void operator()(index_t i) const {
    average[i] = sum[i] = keep * average[i] + by * sum[i];
  }
};
template <class T> struct inverted_root {
  T* x;
  KOKKOS_FUNCTION void operator()(index_t i) const { x[i] = T(1) / std::sqrt(x[i]); }
};
/// Of what has no rows: squared gradients as they are.
template <class T> struct squared_element {
  const T* g;
  T eps;
  T *row, *column;
  KOKKOS_FUNCTION void operator()(index_t i) const {
    if (i == 0) *row = T(1);
    column[i] = g[i] * g[i] + eps;
  }
};

}  // namespace detail
}  // namespace dimesh::local

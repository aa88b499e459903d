// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is an array treated whose elements have a factor by row and one by column? An array
// (A, P, B, Q, C) has rows, indexed by all but Q, and columns, indexed by all but P: what Adafactor
// keeps in place of an average for each element.
//
//   factored_sums(n, g, eps, row, col)     row[a,i,b,c] = sum over j of g^2 + eps, col likewise
//   factored_square(n, g, row, col)        -> the sum of (g row col)^2
#pragma once

#include <algorithm>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/memory/memory.hpp"

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

/// Calls f(length, array, row, column) for stretches of consecutive elements of the array and of a
/// column array: all of one row where C is 1, else `length` rows side by side (Wide).
template <class F> void for_stretches(const factored_extents& n, const F& f) {
  for (index_t a = 0; a < n.A; ++a)
    for (index_t i = 0; i < n.P; ++i)
      for (index_t b = 0; b < n.B; ++b) {
        const index_t row = (a * n.P + i) * n.B + b, column = a * n.B + b;
        if (n.C == 1) {
          f(std::false_type{}, n.Q, row * n.Q, row, column * n.Q);
        } else {
          for (index_t j = 0; j < n.Q; ++j)
            f(std::true_type{}, n.C, (row * n.Q + j) * n.C, row * n.C, (column * n.Q + j) * n.C);
        }
      }
}

}  // namespace detail

/// row = the sums over Q, col = the sums over P, of g^2 + eps.
template <class T>
void factored_sums(const factored_extents& n, const T* g, double eps, T* row, T* col) {
  static_assert(dimesh::detail::is_on_host<T>,
                "factored_sums: adafactor's kernels run on the host only; use a host space");
  const dimesh::detail::writes_memory kernel;
  std::fill_n(row, n.rows(), T(0));
  std::fill_n(col, n.columns(), T(0));
  const T more = static_cast<T>(eps);
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const T* x = g + at;
    T* to = col + c;
    if constexpr (decltype(wide)::value) {
      T* rows = row + r;
#pragma omp simd
      for (index_t k = 0; k < length; ++k) {
        const T s = x[k] * x[k] + more;
        rows[k] += s;
        to[k] += s;
      }
    } else {
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (index_t k = 0; k < length; ++k) {
        const T s = x[k] * x[k] + more;
        sum += s;
        to[k] += s;
      }
      row[r] = sum;
    }
  });
}

/// total (A, B, C) = the sums over P of row.
template <class T> void factored_total(const factored_extents& n, const T* row, T* total) {
  static_assert(dimesh::detail::is_on_host<T>,
                "factored_total: adafactor's kernels run on the host only; use a host space");
  const dimesh::detail::writes_memory kernel;
  std::fill_n(total, n.both(), T(0));
  for (index_t a = 0; a < n.A; ++a)
    for (index_t i = 0; i < n.P; ++i) {
      const T* from = row + (a * n.P + i) * n.B * n.C;
      T* to = total + a * n.B * n.C;
      for (index_t k = 0; k < n.B * n.C; ++k) to[k] += from[k];
    }
}

/// row = row / total, by (A, B, C).
template <class T> void factored_divide(const factored_extents& n, const T* total, T* row) {
  static_assert(dimesh::detail::is_on_host<T>,
                "factored_divide: adafactor's kernels run on the host only; use a host space");
  const dimesh::detail::writes_memory kernel;
  for (index_t a = 0; a < n.A; ++a)
    for (index_t i = 0; i < n.P; ++i) {
      T* to = row + (a * n.P + i) * n.B * n.C;
      const T* by = total + a * n.B * n.C;
      for (index_t k = 0; k < n.B * n.C; ++k) to[k] /= by[k];
    }
}

/// The sum of (g row col)^2.
template <class T>
double factored_square(const factored_extents& n, const T* g, const T* row, const T* col) {
  static_assert(dimesh::detail::is_on_host<T>,
                "factored_square: adafactor's kernels run on the host only; use a host space");
  const dimesh::detail::writes_memory kernel;
  double all = 0;
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const T *x = g + at, *by = col + c;
    T sum = 0;
    if constexpr (decltype(wide)::value) {
      const T* rows = row + r;
#pragma omp simd reduction(+ : sum)
      for (index_t k = 0; k < length; ++k) {
        const T u = x[k] * rows[k] * by[k];
        sum += u * u;
      }
    } else {
      const T one = row[r];
#pragma omp simd reduction(+ : sum)
      for (index_t k = 0; k < length; ++k) {
        const T u = x[k] * one * by[k];
        sum += u * u;
      }
    }
    all += static_cast<double>(sum);
  });
  return all;
}

/// p -= factor g row col.
template <class T>
void factored_step(const factored_extents& n, const T* g, const T* row, const T* col, T factor,
                   T* p) {
  static_assert(dimesh::detail::is_on_host<T>,
                "factored_step: adafactor's kernels run on the host only; use a host space");
  const dimesh::detail::writes_memory kernel;
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const T *x = g + at, *by = col + c;
    T* to = p + at;
    if constexpr (decltype(wide)::value) {
      const T* rows = row + r;
#pragma omp simd
      for (index_t k = 0; k < length; ++k) to[k] -= factor * x[k] * rows[k] * by[k];
    } else {
      const T one = factor * row[r];
#pragma omp simd
      for (index_t k = 0; k < length; ++k) to[k] -= one * x[k] * by[k];
    }
  });
}

/// m = keep m + factor g row col; p -= m.
template <class T>
void factored_step(const factored_extents& n, const T* g, const T* row, const T* col, T factor,
                   T* p, T* m, T keep) {
  static_assert(dimesh::detail::is_on_host<T>,
                "factored_step: adafactor's kernels run on the host only; use a host space");
  const dimesh::detail::writes_memory kernel;
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
#pragma omp simd
    for (index_t k = 0; k < length; ++k) {
      const T u = factor * g[at + k] * row[decltype(wide)::value ? r + k : r] * col[c + k];
      const T v = keep * m[at + k] + u;
      m[at + k] = v;
      p[at + k] -= v;
    }
  });
}

}  // namespace dimesh::local

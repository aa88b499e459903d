// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is an array treated whose elements have a factor by row and one by column? An array
// (A, P, B, Q, C) has rows, indexed by all but Q, and columns, indexed by all but P: what Adafactor
// keeps in place of an average for each element.
//
//   factored_sums(n, g, eps, row, col)     row[a,i,b,c] = sum over j of g^2 + eps, col likewise
//   factored_square(n, g, row, col)        -> the sum of (g row col)^2
#pragma once

#include <algorithm>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/factored_elements.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::local {

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

/// factored_sums, one row after another.
template <class T>
void factored_sums_in_turn(const factored_extents& n, const T* g, T more, T* row, T* col) {
  const dimesh::detail::writes_memory kernel;
  std::fill_n(row, n.rows(), T(0));
  std::fill_n(col, n.columns(), T(0));
  for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const dimesh::detail::writes_memory loop;
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
/// The same of many rows, of one array (P, B, Q, C): the columns' sums are those of halves
/// (halves.hpp).
template <class T>
void factored_sums_in_halves(factored_extents n, const T* g, T more, T* row, T* col) {
  const dimesh::detail::writes_memory kernel;
  if (n.P <= longest_sum) return factored_sums_in_turn(n, g, more, row, col);
  const index_t all = n.P, half = all / 2, columns = n.columns();
  n.P = half;
  factored_sums_in_halves(n, g, more, row, col);
  const auto room = dimesh::detail::storage::acquire(static_cast<std::size_t>(columns) * sizeof(T));
  auto* const rest = static_cast<T*>(room.data());
  g += n.size(), row += n.rows();
  n.P = all - half;
  factored_sums_in_halves(n, g, more, row, rest);
#pragma omp simd
  for (index_t k = 0; k < columns; ++k) col[k] += rest[k];
}

}  // namespace detail

/// row = the sums over Q, col = the sums over P, of g^2 + eps.
template <class T, class Space = default_space>
void factored_sums(const factored_extents& n, const T* g, double eps, T* row, T* col) {
  const T more = static_cast<T>(eps);
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>()) {
      detail::each_for_itself<Space>(n.rows(), detail::factored_row_sum<T>{n, g, more, row});
      detail::each_for_itself<Space>(n.columns(), detail::factored_column_sum<T>{n, g, more, col});
      return;
    }
  if (n.P <= detail::longest_sum) return detail::factored_sums_in_turn(n, g, more, row, col);
  factored_extents one = n;
  one.A = 1;
  for (index_t a = 0; a < n.A; ++a)
    detail::factored_sums_in_halves(one, g + a * one.size(), more, row + a * one.rows(),
                                    col + a * one.columns());
}

/// total (A, B, C) = the sums over P of row.
template <class T, class Space = default_space>
void factored_total(const factored_extents& n, const T* row, T* total) {
  const index_t both = n.B * n.C;
  map_reduce_over<Space>(plus{},
                         loops<2>{3, {n.A, n.P, both}, {{both, 0, 1}, {n.P * both, both, 1}}},
                         detail::itself{}, total, row);
}

/// row = row / total, by (A, B, C).
template <class T, class Space = default_space>
void factored_divide(const factored_extents& n, const T* total, T* row) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(n.rows(), detail::factored_row_share<T>{n, total, row});
  for (index_t a = 0; a < n.A; ++a)
    for (index_t i = 0; i < n.P; ++i) {
      T* to = row + (a * n.P + i) * n.B * n.C;
      const T* by = total + a * n.B * n.C;
      for (index_t k = 0; k < n.B * n.C; ++k) to[k] /= by[k];
    }
}

/// The sum of (g row col)^2.
template <class T, class Space = default_space>
double factored_square(const factored_extents& n, const T* g, const T* row, const T* col) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>()) {
      const auto room =
          dimesh::detail::storage::acquire(static_cast<std::size_t>(n.rows() + 1) * sizeof(double));
      double* const sum = static_cast<double*>(room.data());
      detail::each_for_itself<Space>(n.rows(),
                                     detail::factored_row_square<T>{n, g, row, col, sum + 1});
      map_reduce_over<Space>(plus{}, loops<2>{1, {n.rows()}, {{0}, {1}}}, detail::itself{}, sum,
                             static_cast<const double*>(sum + 1));
      return dimesh::detail::get_element(static_cast<const double*>(sum));
    }
  double all = 0;
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const dimesh::detail::writes_memory loop;
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
template <class T, class Space = default_space>
void factored_step(const factored_extents& n, const T* g, const T* row, const T* col, T factor,
                   T* p) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(
          n.size(), detail::factored_update<T>{n, g, row, col, factor, p, nullptr, T(0)});
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const dimesh::detail::writes_memory loop;
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
template <class T, class Space = default_space>
void factored_step(const factored_extents& n, const T* g, const T* row, const T* col, T factor,
                   T* p, T* m, T keep) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(
          n.size(), detail::factored_update<T>{n, g, row, col, factor, p, m, keep});
  detail::for_stretches(n, [&](auto wide, index_t length, index_t at, index_t r, index_t c) {
    const dimesh::detail::writes_memory loop;
#pragma omp simd
    for (index_t k = 0; k < length; ++k) {
      const T u = factor * g[at + k] * row[decltype(wide)::value ? r + k : r] * col[c + k];
      const T v = keep * m[at + k] + u;
      m[at + k] = v;
      p[at + k] -= v;
    }
  });
}

/// average = keep average + (1 - keep) sum / count, and sum becomes the average.
template <class T, class Space = default_space>
void blend(T* average, T* sum, index_t n, double keep, double count) {
  const dimesh::detail::writes_memory kernel;
  const T k = static_cast<T>(keep), by = static_cast<T>((1 - keep) / (count > 0 ? count : 1));
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(n, detail::blended_element<T>{average, sum, k, by});
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    const T v = k * average[i] + by * sum[i];
    average[i] = v;
    sum[i] = v;
  }
}
/// x = 1 / sqrt(x).
template <class T, class Space = default_space> void invert_roots(T* x, index_t n) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(n, detail::inverted_root<T>{x});
  for (index_t i = 0; i < n; ++i) x[i] = T(1) / std::sqrt(x[i]);
}

}  // namespace dimesh::local

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which products does an attention make of a tile's queries and keys? Scores, and sums of rows by
// weights. A query that does not see a key has the weight 0 for it; where 0 times that row would
// not be 0, since it holds a NaN or infinite, sums are made pair by pair, of what is seen alone.
//
//   tile_scores(t, head, q, q_row, k_t, s);                     s = q k^T
//   tile_values(x, t, head, s, v, v_row, out, out_row, begun);  out += s v
#pragma once

#include "dimesh/local/attention_tile.hpp"

namespace dimesh::local::detail {
inline namespace DIMESH_REGISTERS {

/// c (rows, columns) (+)= a (rows, k) * b (k, columns), rows <= register_rows. Reads a and b up to
/// the next whole vector or strip.
template <class T>
void strip_product(index_t k, const T* a, index_t a_m, index_t a_k, const T* b, index_t b_k, T* c,
                   index_t c_m, index_t rows, index_t columns, bool add) {
  constexpr index_t W = lanes<T>;
  while (columns > 0) {
    const index_t n = columns == 4 * W ? 2 * W : std::min(columns, 3 * W);
    any_tile<T>(k, a, a_m, a_k, b, b_k, {c, c_m, 1, int(rows), int(n), add});
    b += n, c += n, columns -= n;
  }
}

/// Is no element of y (rows, head), whose rows begin y_row apart, NaN or infinite?
template <class T> bool all_finite(index_t rows, index_t head, const T* y, index_t y_row) {
  const dimesh::detail::writes_memory kernel;
  for (index_t r = 0; r < rows; ++r, y += y_row) {
    T sum = 0;  // of zeros
#pragma omp simd simdlen(lanes<T>) reduction(+ : sum)
    for (index_t h = 0; h < head; ++h) sum += y[h] * T(0);
    if (sum != T(0)) return false;
  }
  return true;
}

/// s (queries, keys of the tile) = x (queries, head) * transposed(y), where y_t holds the keys in
/// strips (strip, head, key_strip).
template <class T>
void tile_scores(const attention_tile<T>& t, index_t head, const T* x, index_t x_row, const T* y_t,
                 T* s) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  constexpr index_t C = sizes::key_strip;
  for (index_t k = 0; k < t.length; k += C) {
    const T* strip = y_t + (t.key + k) * head;
    for (index_t i = 0; i < t.strips(); ++i) {
      const index_t from = std::max(t.range[i].first, k), to = std::min(t.range[i].last, k + C);
      if (from >= to) continue;
      const index_t r = i * register_rows;
      strip_product<T>(head, x + r * x_row, x_row, 1, strip + (from - k), C,
                       s + r * sizes::row + from, sizes::row, t.rows_of(i), to - from, false);
    }
  }
}

/// to (head) += by * from (head).
template <class T> void add_row(index_t head, T by, const T* from, T* to) {
  const dimesh::detail::writes_memory kernel;
#pragma omp simd
  for (index_t h = 0; h < head; ++h) to[h] += by * from[h];
}

/// out (queries, head) += s (queries, keys of the tile) * y (keys, head), of pairs of which the
/// query sees the key; overwrites the strips that `begun` does not have yet. Of others s is 0.
template <class T>
void tile_values(const attention_problem& x, const attention_tile<T>& t, index_t head, const T* s,
                 const T* y, index_t y_row, T* out, index_t out_row, bool* begun) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  const key_range doubtful = t.partly_seen(x);
  const T* const rows = y + t.key * y_row;
  const bool plain = doubtful.empty() || all_finite(doubtful.last - doubtful.first, head,
                                                    rows + doubtful.first * y_row, y_row);
  for (index_t i = 0; i < t.strips(); ++i) {
    const index_t from = t.range[i].first, to = std::min(t.range[i].last, t.length);
    if (from >= to) continue;
    const index_t r = i * register_rows, count = t.rows_of(i);
    if (plain || t.sees_all(x, i)) {
      strip_product<T>(to - from, s + r * sizes::row + from, sizes::row, 1, rows + from * y_row,
                       y_row, out + r * out_row, out_row, count, head, begun[i]);
    } else {
      for (index_t q = r; q < r + count; ++q) {
        T* const sum = out + q * out_row;
        if (!begun[i]) std::fill_n(sum, head, T(0));
        t.for_each_seen(
            x, q, [&](index_t k) { add_row(head, s[q * sizes::row + k], rows + k * y_row, sum); });
      }
    }
    begun[i] = true;
  }
}

/// out (keys, head) += transposed(s) * y, y (queries, head) of the tile, of pairs of which the
/// query sees the key. finite: of each strip, are its rows of y finite, and those of s 0 for keys
/// that they do not see?
template <class T>
void tile_transposed_values(const attention_problem& x, const attention_tile<T>& t,
                            const bool* finite, index_t head, const T* s, const T* y, index_t y_row,
                            T* out, index_t out_row) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  constexpr index_t R = register_rows;
  bool apart[sizes::strips] = {};
  T* const sums = out + t.key * out_row;
  for (index_t i = 0; i < t.strips(); ++i) {
    apart[i] = !finite[i] && !t.sees_all(x, i);
    for (index_t q = i * R; apart[i] && q < i * R + t.rows_of(i); ++q)
      t.for_each_seen(x, q, [&](index_t k) {
        add_row(head, s[q * sizes::row + k], y + q * y_row, sums + k * out_row);
      });
  }
  for (index_t k = 0; k < t.length; k += R) {
    const auto sees = [&](index_t i) {
      return !apart[i] && t.range[i].first <= k && k < t.range[i].last;
    };
    for (index_t from = 0, to; from < t.strips(); from = to) {  // ids leave gaps, places do not
      to = from + 1;
      if (!sees(from)) continue;
      while (to < t.strips() && sees(to)) ++to;
      const index_t r = from * R;
      strip_product<T>(std::min(to * R, t.rows) - r, s + r * sizes::row + k, 1, sizes::row,
                       y + r * y_row, y_row, sums + k * out_row, out_row,
                       std::min<index_t>(R, t.length - k), head, true);
    }
  }
}

}  // namespace DIMESH_REGISTERS
}  // namespace dimesh::local::detail

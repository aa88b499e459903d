// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do cotangents go back through an attention whose scores nobody kept? Tile by tile the weights
// p come back from the scores and the logarithm of their sum (Dao et al. 2022, FlashAttention,
// algorithm 4); then, with d = p (dout . v - dout . out),
//
//   dv += transposed(p) dout,   dk += transposed(d) scale q,   dq = scale d k
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/attention.hpp"

namespace dimesh::local {

namespace detail {

/// Keys and values of one head as the way back reads them.
template <class T> struct keys_for_transpose {
  const T *k_t = nullptr, *v_t = nullptr, *k = nullptr;
  index_t k_row = 0;
};

/// What a forward pass left, and the cotangent of its result, from a head's first query on.
template <class T> struct attention_results {
  const T *q, *out, *log_sum, *dout;
};

/// The scratch memory of one block of queries.
template <class T> struct transpose_block {
  using sizes = attention_sizes<T>;
  index_t wide;
  T *q, *dout, *dq, *weights, *d;
  T slope[sizes::queries], log_sum[sizes::queries];  // slope: dout . out
  bool begun[sizes::strips] = {}, finite[sizes::strips] = {};
  dropout_row<T> dropped;

  transpose_block(index_t head, T* scratch)
      : wide(padded<T>(head)),
        q(scratch),
        dout(q + sizes::queries * wide),
        dq(dout + sizes::queries * wide),
        weights(dq + sizes::queries * wide),
        d(weights + sizes::queries * sizes::row) {}

  void load(const attention_problem& x, index_t query, index_t rows,
            const attention_results<T>& from) {
    const dimesh::detail::writes_memory kernel;
    const index_t begin = query * x.q_row;
    copy_rows(rows, x.head, T(x.scale), from.q + begin, x.q_row, q, wide);
    copy_rows(rows, x.head, T(1), from.dout + begin, x.q_row, dout, wide);
    for (index_t r = 0; r < rows; ++r) {
      const T *a = dout + r * wide, *b = from.out + begin + r * x.q_row;
      T sum = 0;
#pragma omp simd simdlen(lanes<T>) reduction(+ : sum)
      for (index_t h = 0; h < x.head; ++h) sum += a[h] * b[h];
      slope[r] = sum;
      log_sum[r] = from.log_sum[(query + r) * x.log_row];
    }
    for (index_t r = 0; r < rows; r += register_rows) {
      const index_t n = std::min<index_t>(register_rows, rows - r);
      finite[r / register_rows] = all_finite(n, x.head, q + r * wide, wide) &&
                                  all_finite(n, x.head, dout + r * wide, wide) &&
                                  all_finite(1, n, slope + r, n) &&
                                  all_finite(1, n, log_sum + r, n);
    }
  }

  /// Scores -> weights, and what stands in d (dout . v) -> the cotangents of the scores. Both are 0
  /// where a row does not see a key, whatever that key holds; but in rows that are not finite.
  void differentiate(const attention_problem& x, const attention_tile<T>& t, index_t draw) {
    const dimesh::detail::writes_memory kernel;
    for (index_t r = 0; r < t.rows; ++r) {
      const key_range in = t.range[r / register_rows];
      if (in.empty()) continue;
      T *p = weights + r * sizes::row, *dp = d + r * sizes::row;
      const T shift = log_sum[r], less = slope[r];
      hide_unseen(x, t, r, p);
      if (x.dropout > 0) {
        const T* keep =
            dropped.fill(x, draw + (t.query + r) * x.draw_row, t.key + in.first, t.key + in.last);
#pragma omp simd simdlen(lanes<T>)
        for (index_t j = in.first; j < in.last; ++j) {
          const T weight = exp_below_zero(p[j] - shift), kept = keep[j - in.first];
          p[j] = weight * kept;
          // (Pairs that are hidden weigh 0, and so do those too far below the maximum.)
          dp[j] = elementary::choose(weight == T(0), T(0), weight * (kept * dp[j] - less));
        }
      } else {
#pragma omp simd simdlen(lanes<T>)
        for (index_t j = in.first; j < in.last; ++j) {
          p[j] = exp_below_zero(p[j] - shift);
          dp[j] = elementary::choose(p[j] == T(0), T(0), p[j] * (dp[j] - less));
        }
      }
    }
  }
};

/// One block of queries of one head.
template <class T>
void transpose_attention_block(const attention_problem& x, index_t query, index_t draw,
                               const attention_results<T>& from, const keys_for_transpose<T>& keys,
                               const attention_cotangents<T>& to, T* scratch) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  const index_t rows = std::min(sizes::queries, x.queries - query);
  transpose_block<T> block(x.head, scratch);
  const index_t wide = block.wide;
  block.load(x, query, rows, from);
  const index_t first = x.sees.begin(x.position + query),
                last = x.sees.end(x.position + query + rows - 1);
  for (index_t key = first / sizes::keys * sizes::keys; key < last; key += sizes::keys) {
    const attention_tile<T> t(x, query, key);
    tile_scores(t, x.head, block.q, wide, keys.k_t, block.weights);
    tile_scores(t, x.head, block.dout, wide, keys.v_t, block.d);
    block.differentiate(x, t, draw);
    if (to.dv)
      tile_transposed_values(x, t, block.finite, x.head, block.weights, block.dout, wide, to.dv,
                             x.v_row);
    if (to.dk)
      tile_transposed_values(x, t, block.finite, x.head, block.d, block.q, wide, to.dk, x.k_row);
    if (to.dq) tile_values(x, t, x.head, block.d, keys.k, keys.k_row, block.dq, wide, block.begun);
  }
  for (index_t r = 0; to.dq && r < rows; ++r) {
    T* dq = to.dq + (query + r) * x.q_row;
    if (block.begun[r / register_rows])
      copy_rows(1, x.head, T(x.scale), block.dq + r * wide, wide, dq, x.head);
    else
      std::fill_n(dq, x.head, T(0));
  }
}

/// The turns [first, last).
template <class T>
void transpose_attention_turns(const attention_problem& x, index_t first, index_t last,
                               const attention_results<T>& from, const T* k, const T* v,
                               const attention_cotangents<T>& to, T* scratch) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  T* const tiles = scratch + 3 * prepared_keys<T>::elements(x);
  index_t k_at = -1, v_at = -1;
  const index_t* flags_at = nullptr;
  keys_for_transpose<T> keys;
  attention_turn turn(x);
  for_each_turn(x, first, last, [&](const attention_problem::loop& o) {
    const attention_problem& now = turn.at(o);
    if (o.k != k_at || o.v != v_at || now.ids.flags() != flags_at) {
      prepared_keys<T> prepare(turn.of_keys(), now.ids.flags(), scratch);
      keys.k_t = prepare.transposed(k + o.k, x.k_row);
      keys.v_t = prepare.transposed(v + o.v, x.v_row);
      keys.k_row = x.k_row;
      keys.k = prepare.rows(k + o.k, keys.k_row);
      k_at = o.k, v_at = o.v, flags_at = now.ids.flags();
    }
    const auto at = [](T* p, index_t offset) { return p == nullptr ? p : p + offset; };
    for (index_t query = 0; query < x.queries; query += sizes::queries)
      transpose_attention_block<T>(
          now, query, o.draw, {from.q + o.q, from.out + o.q, from.log_sum + o.log, from.dout + o.q},
          keys, {at(to.dq, o.q), at(to.dk, o.k), at(to.dv, o.v)}, tiles);
  });
}

}  // namespace detail

namespace detail {
/// Elements of a piece of the turns.
template <class T> constexpr index_t attention_transpose_room(const attention_problem& x) {
  using sizes = attention_sizes<T>;
  return sizes::queries * (3 * padded<T>(x.head) + 2 * sizes::row) +
         3 * prepared_keys<T>::elements(x);
}
}  // namespace detail

/// Elements of T that `attention_transpose` needs as scratch, for each piece that a thread takes.
template <class T, class Space = default_space>
constexpr index_t attention_transpose_scratch(const attention_problem& x) {
  return detail::scratch_of_turns<T, Space>(x, detail::attention_transpose_room<T>(x));
}

/// The wanted cotangents of q, k, v from dout, that of attention's result `out`; log_sum as
/// attention gave it. Shapes: as in attention; dout, dq as q.
template <class T, class Space = default_space>
void attention_transpose(const attention_problem& given, const T* q, const T* k, const T* v,
                         const T* out, const T* log_sum, const T* dout,
                         const attention_cotangents<T>& to, T* scratch) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::attend_back_in_blocks<Space>(given, q, k, v, out, log_sum, dout, to);
  const attention_problem x = detail::shared_keys_last(given);
  detail::in_turns<Space>(x, scratch, detail::attention_transpose_room<T>(x),
                          [&](index_t first, index_t last, T* room) {
                            detail::transpose_attention_turns<T>(
                                x, first, last, {q, out, log_sum, dout}, k, v, to, room);
                          });
}

}  // namespace dimesh::local

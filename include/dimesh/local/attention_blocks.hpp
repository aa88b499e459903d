// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is attention.hpp on a device? Products by a library and between them blocks of scores, of
// some queries at a time: they fit in scratch memory, and a causal mask spares keys. Queries lie
// side by side, as threads do; their sums are made in a fixed order.
//
//   attend_in_blocks<Space>(x, q, k, v, out, log_sum)
//   attend_back_in_blocks<Space>(x, q, k, v, out, log_sum, dout, {dq, dk, dv})
#pragma once

#include <limits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/attention_pairs.hpp"
#include "dimesh/local/contract.hpp"
#include "dimesh/local/math.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::local {

namespace detail {

/// A query of a turn, and some of a block's keys: a thread's share.
struct attention_share {
  index_t turn, query, first, last;
};

/// Numbers for pairs of the queries [query, query + rows) and the keys [key, key + keys), of all
/// turns: at(turn, key, query).
template <class T> struct attention_block {
  plain_attention<T> a;
  T* scores;
  index_t query, rows, key, keys;

  KOKKOS_INLINE_FUNCTION index_t place(index_t turn, index_t j, index_t i) const {
    return (turn * keys + j - key) * rows + i - query;
  }
  index_t size() const { return a.x.turns() * keys * rows; }
  /// How many shares of `length` keys a query's keys are: one at least.
  KOKKOS_INLINE_FUNCTION index_t shares(index_t length) const {
    return keys <= length ? 1 : (keys + length - 1) / length;
  }
  index_t all_shares(index_t length) const { return a.x.turns() * shares(length) * rows; }
  /// Neighbours have neighbouring queries.
  KOKKOS_INLINE_FUNCTION attention_share share(index_t e, index_t length) const {
    const division at = divided(e, rows), of = divided(at.whole, shares(length));
    const index_t first = key + of.rest * length, end = key + keys;
    return {of.whole, query + at.rest, first, first + length < end ? first + length : end};
  }
};

/// The greatest score of a part of a query's keys, and the sum of what the exponentials are to it.
template <class T> struct attended_part {
  static constexpr index_t length = keys_of_part;
  attention_block<T> b;
  index_t parts;
  T *tops, *sums;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const attention_share of = b.share(e, length);
    const attention_seat s = b.a.seat(of.turn);
    const T scale = static_cast<T>(b.a.x.scale);
    const index_t column = b.place(of.turn, 0, of.query);
    constexpr int held = 8;  // in registers
    T top = nothing(), sum = 0;
    for (index_t j = of.first; j < of.last; j += held) {
      T score[held], greatest = top;
      for (int k = 0; k < held; ++k) {
        const bool meets = j + k < of.last && b.a.meet(s, of.query, j + k);
        score[k] = meets ? scale * b.scores[column + (j + k) * b.rows] : nothing();
        greatest = score[k] > greatest ? score[k] : greatest;
      }
      if (greatest > top) sum *= dimesh::exp(top - greatest);  // 0 (or NaN) where there was none
      top = greatest;
      for (int k = 0; k < held; ++k)
        if (score[k] != nothing()) sum += dimesh::exp(score[k] - top);
    }
    tops[e] = top, sums[e] = sum;
  }
  KOKKOS_INLINE_FUNCTION static T nothing() { return -std::numeric_limits<T>::infinity(); }
};
/// Of all parts of a query, into the place of the first; and the logarithm of the sum.
template <class T> struct attended_query {
  attended_part<T> of;
  T* log_sum;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const attention_block<T>& b = of.b;
    const division at = divided(e, b.rows);
    const index_t first = at.whole * of.parts * b.rows + at.rest, end = first + of.parts * b.rows;
    T top = of.nothing(), sum = 0;
    for (index_t p = first; p < end; p += b.rows) top = of.tops[p] > top ? of.tops[p] : top;
    for (index_t p = first; p < end; p += b.rows)
      if (of.sums[p] != 0)
        sum += of.tops[p] == of.nothing() ? of.sums[p] : of.sums[p] * dimesh::exp(of.tops[p] - top);
    const bool any = sum != 0;  // NaN counts
    of.tops[first] = top, of.sums[first] = sum;
    const attention_seat s = b.a.seat(at.whole);
    log_sum[s.log + (b.query + at.rest) * b.a.x.log_row] = any ? top + dimesh::log(sum) : T(0);
  }
};
/// Scores become weights. What is the query's own is read once for so many keys.
inline constexpr index_t keys_of_thread = 16;
template <class T> struct attended_weight {
  attended_part<T> of;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const attention_block<T>& b = of.b;
    const attention_share it = b.share(e, keys_of_thread);
    const index_t first = it.turn * of.parts * b.rows + it.query - b.query;
    const attention_seat s = b.a.seat(it.turn);
    const T scale = static_cast<T>(b.a.x.scale), top = of.tops[first], sum = of.sums[first];
    const index_t column = b.place(it.turn, 0, it.query);
    for (index_t j = it.first; j < it.last; ++j) {
      T& score = b.scores[column + j * b.rows];
      const bool meets = sum != 0 && b.a.meet(s, it.query, j);  // NaN counts
      score = meets ? dimesh::exp(scale * score - top) / sum * b.a.kept(s, it.query, j) : T(0);
    }
  }
};

/// dout . out for each query.
template <class T> struct attention_slope {
  plain_attention<T> a;
  const T *out, *dout;
  T* slope;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const attention_problem& x = a.x;
    const attention_seat s = a.seat(e / x.queries);
    const index_t at = s.q + e % x.queries * x.q_row;
    slope[e] = a.dot(dout + at, out + at);
  }
};

/// Scores become weights again; dout . value becomes the cotangent of q . key.
template <class T> struct attended_pair {
  attention_block<T> b;
  T* along;
  const T *log_sum, *slope;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const attention_problem& x = b.a.x;
    const attention_share it = b.share(e, keys_of_thread);
    const attention_seat s = b.a.seat(it.turn);
    const T scale = static_cast<T>(x.scale), sum = log_sum[s.log + it.query * x.log_row];
    const T slope_here = slope[it.turn * x.queries + it.query];
    const index_t column = b.place(it.turn, 0, it.query);
    for (index_t j = it.first; j < it.last; ++j) {
      const index_t place = column + j * b.rows;
      T weight = 0, d = 0;
      if (b.a.meet(s, it.query, j)) {
        const T p = dimesh::exp(scale * b.scores[place] - sum);
        const T kept = b.a.kept(s, it.query, j);
        weight = p * kept;
        d = scale * p * (kept * along[place] - slope_here);
      }
      b.scores[place] = weight;
      along[place] = d;
    }
  }
};

/// c (m, n) = a (m, k) b (k, n) in all turns.
template <class T>
contraction attention_product(const attention_block<T>& b, index_t m, index_t k, index_t n,
                              const attention_strides& of_a, const attention_strides& of_b,
                              const attention_strides& of_c) {
  contraction y;
  y.m = m, y.k = k, y.n = n;
  y.a_m = of_a.row, y.a_k = of_a.column, y.b_k = of_b.row, y.b_n = of_b.column;
  y.c_m = of_c.row, y.c_n = of_c.column;
  y.short_factors = b.a.x.short_factors;
  y.outer = b.a.x.outer;
  index_t turns = 1;
  for (int l = y.outer - 1; l >= 0; --l) {
    const attention_problem::loop& loop = b.a.x.loops[l];
    const auto step = [&](const attention_strides& s) {
      return s.outer == nullptr ? turns * s.turn : loop.*s.outer;
    };
    y.extent[l] = loop.extent;
    y.a_outer[l] = step(of_a), y.b_outer[l] = step(of_b), y.c_outer[l] = step(of_c);
    turns *= loop.extent;
  }
  return y;
}

/// The products of a block. Rows have `head` elements side by side.
template <class Space, class T> struct attention_products {
  using loop = attention_problem::loop;
  using rows = attention_rows<Space, T>;
  const attention_block<T>& b;
  const attention_problem& x = b.a.x;
  index_t size = b.keys * b.rows;

  attention_strides of_queries() const { return {&loop::q, 0, x.q_row, 1}; }
  /// Products of rows of keys (or values) and of rows of queries, for each turn, key and query.
  void pairs(const rows& keys, const T* queries, T* to) const {
    contract<T, Space>(attention_product(b, b.keys, x.head, b.rows, keys.strides,
                                         {&loop::q, 0, 1, x.q_row}, {nullptr, size, b.rows, 1}),
                       keys.at + b.key * keys.strides.row, queries + b.query * x.q_row, to);
  }
  /// Rows of keys (or values), each as often as a pair says, for each query.
  void to_queries(const T* by, const rows& keys, T* to) const {
    contract<T, Space>(attention_product(b, b.rows, b.keys, x.head, {nullptr, size, 1, b.rows},
                                         keys.strides, of_queries()),
                       by, keys.at + b.key * keys.strides.row, to + b.query * x.q_row);
  }
  /// Rows of queries for each key (or value), added to what there is.
  void to_keys(const T* by, const T* queries, T* to, bool values) const {
    const index_t row = values ? x.v_row : x.k_row;
    contract<T, Space>(attention_product(b, b.keys, b.rows, x.head, {nullptr, size, b.rows, 1},
                                         of_queries(), {values ? &loop::v : &loop::k, 0, row, 1}),
                       by, queries + b.query * x.q_row, to + b.key * row, true);
  }
};

/// Calls f for blocks that make up all pairs of which one may see the other, with room for
/// `matrices` of them each.
template <class T, class F>
void for_each_attention_block(const plain_attention<T>& a, int matrices, index_t wanted,
                              const F& f) {
  const attention_problem& x = a.x;
  const index_t pairs = x.turns() * x.keys;
  if (x.turns() == 0 || x.queries == 0) return;
  const index_t rows = queries_of_block(x, wanted);
  const auto room = dimesh::detail::storage::acquire(static_cast<std::size_t>(matrices * pairs) *
                                                     static_cast<std::size_t>(rows) * sizeof(T));
  for (index_t i = 0; i < x.queries; i += rows) {
    const index_t n = std::min(rows, x.queries - i);
    const index_t begin = x.sees.begin(x.position + i), end = x.sees.end(x.position + i + n - 1);
    f(attention_block<T>{a, static_cast<T*>(room.data()), i, n, begin,
                         std::max(end - begin, index_t{0})});
  }
}

template <class Space, class T> void weigh_block(const attention_block<T>& b, T* log_sum) {
  const index_t parts = b.shares(attended_part<T>::length);
  const index_t queries = b.a.x.turns() * b.rows, size = queries * parts;
  const auto room =
      dimesh::detail::storage::acquire(static_cast<std::size_t>(2 * size) * sizeof(T));
  T* const tops = static_cast<T*>(room.data());
  const attended_part<T> part{b, parts, tops, tops + size};
  each_for_itself<Space>(size, part);
  each_for_itself<Space>(queries, attended_query<T>{part, log_sum});
  each_for_itself<Space>(b.all_shares(keys_of_thread), attended_weight<T>{part});
}

template <class Space, class T>
void attend_in_blocks(const attention_problem& x, const T* q, const T* k, const T* v, T* out,
                      T* log_sum, index_t queries_at_once = 512) {
  const attention_rows<Space, T> keys(x, k, false), values(x, v, true);
  for_each_attention_block(plain_attention<T>{x}, 1, queries_at_once,
                           [&](const attention_block<T>& b) {
                             const attention_products<Space, T> products{b};
                             products.pairs(keys, q, b.scores);
                             weigh_block<Space>(b, log_sum);
                             products.to_queries(b.scores, values, out);
                           });
}

template <class Space, class T>
void attend_back_in_blocks(const attention_problem& x, const T* q, const T* k, const T* v,
                           const T* out, const T* log_sum, const T* dout,
                           const attention_cotangents<T>& to, index_t queries_at_once = 512) {
  const index_t all = x.turns() * x.queries;
  const auto room = dimesh::detail::storage::acquire(static_cast<std::size_t>(all) * sizeof(T));
  T* const slope = static_cast<T*>(room.data());
  each_for_itself<Space>(all, attention_slope<T>{{x}, out, dout, slope});
  const attention_rows<Space, T> keys(x, k, false), values(x, v, true);
  for_each_attention_block(plain_attention<T>{x}, 2, queries_at_once,
                           [&](const attention_block<T>& b) {
                             const attention_products<Space, T> products{b};
                             T* const along = b.scores + b.size();
                             products.pairs(keys, q, b.scores);
                             products.pairs(values, dout, along);
                             each_for_itself<Space>(b.all_shares(keys_of_thread),
                                                    attended_pair<T>{b, along, log_sum, slope});
                             if (to.dq != nullptr) products.to_queries(along, keys, to.dq);
                             if (to.dk != nullptr) products.to_keys(along, q, to.dk, false);
                             if (to.dv != nullptr) products.to_keys(b.scores, dout, to.dv, true);
                           });
}

}  // namespace detail
}  // namespace dimesh::local

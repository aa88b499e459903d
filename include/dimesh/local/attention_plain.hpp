// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is attention.hpp on a device? A query for itself, and on the way back a query, and a key for
// itself: plain loops without a matrix of scores, every sum made by one thread in a fixed order.
//
//   attend_plainly<Space>(x, q, k, v, out, log_sum)
//   attend_back_plainly<Space>(x, q, k, v, out, log_sum, dout, {dq, dk, dv})
#pragma once

#include <limits>

#include "dimesh/local/attention_tile.hpp"
#include "dimesh/local/math.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::local {

/// Where the cotangents of an attention's operands go; null: not wanted. They have the strides of
/// their operands. dk and dv are added to, dq is overwritten.
template <class T> struct attention_cotangents {
  T *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

namespace detail {

/// One turn of the outer loops: where its operands begin, and which keys there are.
struct attention_seat {
  index_t q = 0, k = 0, v = 0, log = 0, draw = 0;
  visibility sees{};
  segment_ids ids{};
  index_t length = 0, query_id = 0, key_id = 0;

  KOKKOS_INLINE_FUNCTION void move(const attention_problem::loop& l, index_t n) {
    q += n * l.q, k += n * l.k, v += n * l.v, log += n * l.log, draw += n * l.draw;
    length += n * l.length, query_id += n * l.query_id, key_id += n * l.key_id;
  }
  KOKKOS_INLINE_FUNCTION void settle(const attention_problem& x) {
    draw += x.first_draw;
    sees = x.sees;
    if (x.lengths != nullptr) {
      const index_t n = x.lengths[length];
      sees.keys = n < 0 ? 0 : n > x.keys ? x.keys : n;
    }
    if (x.ids.any())
      ids = {x.ids.queries == nullptr ? nullptr : x.ids.queries + query_id, x.ids.step,
             x.ids.keys + key_id};
  }
};

/// Scores and weights of an attention, one by one.
template <class T> struct plain_attention {
  attention_problem x;
  const T *q, *k, *v;

  KOKKOS_INLINE_FUNCTION attention_seat seat(index_t turn) const {
    attention_seat s;
    for (int i = x.outer - 1; i >= 0; --i) {
      s.move(x.loops[i], turn % x.loops[i].extent);
      turn /= x.loops[i].extent;
    }
    s.settle(x);
    return s;
  }
  KOKKOS_INLINE_FUNCTION bool meet(const attention_seat& s, index_t i, index_t j) const {
    return s.sees.begin(x.position + i) <= j && j < s.sees.end(x.position + i) &&
           (!s.ids.any() || s.ids.of_query(i) == s.ids.keys[j]);
  }
  KOKKOS_INLINE_FUNCTION T dot(const T* a, const T* b) const {
    T sum = 0;
    for (index_t h = 0; h < x.head; ++h) sum += a[h] * b[h];
    return sum;
  }
  KOKKOS_INLINE_FUNCTION T score(const attention_seat& s, index_t i, index_t j) const {
    return static_cast<T>(x.scale) * dot(q + s.q + i * x.q_row, k + s.k + j * x.k_row);
  }
  /// What dropout makes of a weight of 1: as dropout_row draws it.
  KOKKOS_INLINE_FUNCTION T kept(const attention_seat& s, index_t i, index_t j) const {
    if (!(x.dropout > 0)) return T(1);
    constexpr index_t block = 64, draws = 8;
    const auto limit = static_cast<std::uint32_t>(x.dropout * 0x1p16);
    const index_t row = (s.draw + i * x.draw_row) * ((x.keys + block - 1) / block);
    const random_words w = x.key.at((row + j / block) * draws + j % draws);
    const index_t part = j % block / draws;
    const std::uint32_t bits = part % 2 == 0 ? w.word[part / 2] & 0xffffu : w.word[part / 2] >> 16;
    return bits >= limit ? static_cast<T>(1 / (1 - static_cast<double>(limit) * 0x1p-16)) : T(0);
  }
};

/// The result of one query, and the logarithm of its sum.
template <class T> struct attended_query {
  plain_attention<T> a;
  T *out, *log_sum;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    constexpr T none = -std::numeric_limits<T>::infinity();
    const attention_problem& x = a.x;
    const index_t i = e % x.queries;
    const attention_seat s = a.seat(e / x.queries);
    T* const to = out + s.q + i * x.q_row;
    for (index_t h = 0; h < x.head; ++h) to[h] = T(0);
    T top = none, sum = 0;
    const index_t end = s.sees.end(x.position + i);
    for (index_t j = s.sees.begin(x.position + i); j < end; ++j) {
      if (!a.meet(s, i, j)) continue;
      const T score = a.score(s, i, j);
      if (score == none) continue;
      if (score > top) {
        const T less = top == none ? T(0) : dimesh::exp(top - score);
        sum *= less;
        for (index_t h = 0; h < x.head; ++h) to[h] *= less;
        top = score;
      }
      const T weight = dimesh::exp(score - top), share = weight * a.kept(s, i, j);
      const T* const value = a.v + s.v + j * x.v_row;
      sum += weight;
      for (index_t h = 0; h < x.head; ++h) to[h] += share * value[h];
    }
    const bool any = sum != 0;  // NaN counts
    for (index_t h = 0; h < x.head; ++h) to[h] = any ? to[h] / sum : T(0);
    log_sum[s.log + i * x.log_row] = any ? top + dimesh::log(sum) : T(0);
  }
};

/// What the way back reads: dout, the logarithms of the sums, and dout . out for each query.
template <class T> struct attention_bars {
  plain_attention<T> a;
  const T *log_sum, *dout;
  T* slope;

  /// The weight of a pair, and the cotangent of its score.
  KOKKOS_INLINE_FUNCTION void pair(const attention_seat& s, index_t turn, index_t i, index_t j,
                                   T& weight, T& d) const {
    const attention_problem& x = a.x;
    const T p = dimesh::exp(a.score(s, i, j) - log_sum[s.log + i * x.log_row]);
    const T kept = a.kept(s, i, j);
    const T along = a.dot(dout + s.q + i * x.q_row, a.v + s.v + j * x.v_row);
    weight = p * kept;
    d = p * (kept * along - slope[turn * x.queries + i]);
  }
};
template <class T> struct attention_slope {
  attention_bars<T> b;
  const T* out;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const attention_problem& x = b.a.x;
    const attention_seat s = b.a.seat(e / x.queries);
    const index_t at = s.q + e % x.queries * x.q_row;
    b.slope[e] = b.a.dot(b.dout + at, out + at);
  }
};
/// dq of one query.
template <class T> struct query_bar {
  attention_bars<T> b;
  T* dq;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const attention_problem& x = b.a.x;
    const index_t i = e % x.queries, turn = e / x.queries;
    const attention_seat s = b.a.seat(turn);
    T* const to = dq + s.q + i * x.q_row;
    for (index_t h = 0; h < x.head; ++h) to[h] = T(0);
    for (index_t j = s.sees.begin(x.position + i); j < s.sees.end(x.position + i); ++j) {
      if (!b.a.meet(s, i, j)) continue;
      T weight, d;
      b.pair(s, turn, i, j, weight, d);
      const T* const key = b.a.k + s.k + j * x.k_row;
      for (index_t h = 0; h < x.head; ++h) to[h] += static_cast<T>(x.scale) * d * key[h];
    }
  }
};
/// dk, or dv (Values), of one key: over all turns that share it.
template <bool Values, class T> struct key_bar {
  attention_bars<T> b;
  T* to;

  KOKKOS_INLINE_FUNCTION static index_t step(const attention_problem::loop& l) {
    return Values ? l.v : l.k;
  }
  /// How many keys have a cotangent of their own, and how many turns share each.
  KOKKOS_INLINE_FUNCTION index_t turns(bool sharing) const {
    index_t n = 1;
    for (int i = 0; i < b.a.x.outer; ++i)
      if ((step(b.a.x.loops[i]) == 0) == sharing) n *= b.a.x.loops[i].extent;
    return n;
  }
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const attention_problem& x = b.a.x;
    const index_t j = e % x.keys, own = e / x.keys, sharing = turns(true);
    for (index_t t = 0; t < sharing; ++t) add(own, t, j);
  }

 private:
  KOKKOS_INLINE_FUNCTION void add(index_t own, index_t shared, index_t j) const {
    const attention_problem& x = b.a.x;
    attention_seat s;
    index_t turn = 0, before = 1;
    for (int i = x.outer - 1; i >= 0; --i) {
      index_t& rest = step(x.loops[i]) == 0 ? shared : own;
      const index_t n = rest % x.loops[i].extent;
      rest /= x.loops[i].extent;
      s.move(x.loops[i], n);
      turn += n * before, before *= x.loops[i].extent;
    }
    s.settle(x);
    T* const bar = to + (Values ? s.v + j * x.v_row : s.k + j * x.k_row);
    for (index_t i = 0; i < x.queries; ++i) {
      if (!b.a.meet(s, i, j)) continue;
      T weight, d;
      b.pair(s, turn, i, j, weight, d);
      const T* const from = (Values ? b.dout : b.a.q) + s.q + i * x.q_row;
      const T by = Values ? weight : static_cast<T>(x.scale) * d;
      for (index_t h = 0; h < x.head; ++h) bar[h] += by * from[h];
    }
  }
};

template <class Space, class T>
void attend_plainly(const attention_problem& x, const T* q, const T* k, const T* v, T* out,
                    T* log_sum) {
  each_for_itself<Space>(x.turns() * x.queries, attended_query<T>{{x, q, k, v}, out, log_sum});
}

template <class Space, class T>
void attend_back_plainly(const attention_problem& x, const T* q, const T* k, const T* v,
                         const T* out, const T* log_sum, const T* dout,
                         const attention_cotangents<T>& to) {
  const index_t all = x.turns() * x.queries;
  const auto room = dimesh::detail::storage::acquire(static_cast<std::size_t>(all) * sizeof(T));
  const attention_bars<T> b{{x, q, k, v}, log_sum, dout, static_cast<T*>(room.data())};
  each_for_itself<Space>(all, attention_slope<T>{b, out});
  if (to.dq != nullptr) each_for_itself<Space>(all, query_bar<T>{b, to.dq});
  if (to.dk != nullptr) {
    const key_bar<false, T> bars{b, to.dk};
    each_for_itself<Space>(bars.turns(false) * x.keys, bars);
  }
  if (to.dv != nullptr) {
    const key_bar<true, T> bars{b, to.dv};
    each_for_itself<Space>(bars.turns(false) * x.keys, bars);
  }
}

}  // namespace detail
}  // namespace dimesh::local

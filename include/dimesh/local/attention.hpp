// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do queries gather values without a matrix of scores? Tile by tile, with the softmax corrected
// as greater scores turn up (Milakov and Gimelshein 2018, Online normalizer calculation for
// softmax; Dao et al. 2022, FlashAttention, algorithm 1). What the way back needs is one number a
// query: the logarithm of its sum of exponentials.
//
//   attention(x, q, k, v, out, log_sum, scratch)
//     out[i] = sum over j of softmax(scale q[i] . k[j]) v[j],   log_sum[i] = log sum exp(...)
#pragma once

#include <limits>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/attention_blocks.hpp"
#include "dimesh/local/attention_products.hpp"
#include "dimesh/local/attention_turns.hpp"

namespace dimesh::local {

namespace detail {
inline namespace DIMESH_REGISTERS {

/// Where products can read rows of keys and values: in place, or padded to whole vectors.
template <class T> constexpr index_t padded(index_t head) { return rounded_up(head, lanes<T>); }

/// Keys and values of one head as the products read them. Rows that a flag hides are zeros there,
/// whatever fills them up, NaN say: pairs of those with queries need no care (tile_values).
template <class T> class prepared_keys {
 public:
  prepared_keys(const attention_problem& x, const index_t* flags, T* scratch)
      : x_(x),
        from_(x.queries > 0 ? x.sees.begin(x.position) : 0),
        to_(x.queries > 0 ? x.sees.end(x.position + x.queries - 1) : 0),
        at_(scratch) {
    constexpr index_t g = attention_sizes<T>::granule;
    // Whole granules: strips also read, with weights of 0, keys that no query sees.
    first_ = from_ / g * g, last_ = std::min(rounded_up(to_, g), x.keys);
    if (flags != nullptr && std::any_of(flags + first_, flags + last_, is_hidden)) flags_ = flags;
  }

  /// Elements of scratch for one of the two in one form.
  static constexpr index_t elements(const attention_problem& x) {
    return rounded_up(x.keys, attention_sizes<T>::key_strip) * padded<T>(x.head);
  }
  const T* transposed(const T* y, index_t row) {
    constexpr index_t C = attention_sizes<T>::key_strip;
    transpose_keys(from_, to_, x_.head, y, row, at_);
    for_each_hidden([this](index_t k) {
      const dimesh::detail::writes_memory loop;
      T* const column = at_ + k / C * C * x_.head + k % C;
      for (index_t h = 0; h < x_.head; ++h) column[h * C] = T(0);
    });
    return std::exchange(at_, at_ + elements(x_));
  }
  /// Rows `row` apart, which may change.
  const T* rows(const T* y, index_t& row) {
    const index_t wide = padded<T>(x_.head);
    if (wide == x_.head && flags_ == nullptr) return y;
    copy_rows(last_ - first_, x_.head, T(1), y + first_ * row, row, at_ + first_ * wide, wide);
    for_each_hidden([this, wide](index_t k) {
      const dimesh::detail::writes_memory loop;
      std::fill_n(at_ + k * wide, wide, T(0));
    });
    row = wide;
    return std::exchange(at_, at_ + elements(x_));
  }

 private:
  static constexpr bool is_hidden(index_t flag) { return flag != 1; }
  template <class F> void for_each_hidden(const F& f) const {
    const dimesh::detail::writes_memory kernel;
    if (flags_ == nullptr) return;
    for (index_t k = first_; k < last_; ++k)
      if (is_hidden(flags_[k])) f(k);
  }

  const attention_problem& x_;
  index_t from_, to_, first_, last_;
  const index_t* flags_ = nullptr;  // null: hide nothing
  T* at_;
};

/// Replaces what row r of the tile does not see by -inf, within the range of its strip.
template <class T>
void hide_unseen(const attention_problem& x, const attention_tile<T>& t, index_t r, T* s) {
  const dimesh::detail::writes_memory kernel;
  constexpr T hidden = -std::numeric_limits<T>::infinity();
  const key_range all = t.range[r / register_rows], seen = t.seen(x, r);
  std::fill(s + all.first, s + seen.first, hidden);
  std::fill(s + seen.last, s + all.last, hidden);
  if (!t.mixed[r / register_rows]) return;
  const index_t own = x.ids.of_query(t.query + r);
  const index_t* const ids = x.ids.keys + t.key;
#pragma omp simd
  for (index_t j = seen.first; j < seen.last; ++j) s[j] = ids[j] == own ? s[j] : hidden;
}

/// The state of a block of queries.
template <class T> struct softmax_rows {
  using sizes = attention_sizes<T>;
  T greatest[sizes::queries], sum[sizes::queries];
  bool begun[sizes::strips] = {};

  softmax_rows() {
    std::fill_n(greatest, sizes::queries, -std::numeric_limits<T>::infinity());
    std::fill_n(sum, sizes::queries, T(0));
  }
  /// Scores of row r -> weights against the greatest score so far; the row of `out` likewise.
  void take(index_t r, key_range in, T* s, T* out, index_t head) {
    const dimesh::detail::writes_memory kernel;
    T top = greatest[r];
#ifndef __clang__  // which cannot, and says so
#pragma omp simd simdlen(lanes<T>) reduction(max : top)
#endif
    for (index_t j = in.first; j < in.last; ++j) top = s[j] > top ? s[j] : top;
    const T shift = std::abs(top) < std::numeric_limits<T>::infinity() ? top : T(0);
    T total = 0;
#pragma omp simd simdlen(lanes<T>) reduction(+ : total)
    for (index_t j = in.first; j < in.last; ++j) {
      s[j] = exp_below_zero(s[j] - shift);
      total += s[j];
    }
    if (begun[r / register_rows] && top != greatest[r]) {
      const T less = exp_below_zero(greatest[r] - shift);
      sum[r] *= less;
#pragma omp simd simdlen(lanes<T>)
      for (index_t h = 0; h < head; ++h) out[h] *= less;
    }
    greatest[r] = top;
    sum[r] += total;
  }
};

/// One block of queries of one head. q, out and log_sum begin at the head's first query.
template <class T>
void attend_block(const attention_problem& x, index_t query, index_t draw, const T* q, const T* k_t,
                  const T* v, index_t v_row, T* out, T* log_sum, T* scratch) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  const index_t wide = padded<T>(x.head), rows = std::min(sizes::queries, x.queries - query);
  T *const scaled = scratch, *const mixed = scaled + sizes::queries * wide,
           *const s = mixed + sizes::queries * wide;
  softmax_rows<T> state;
  dropout_row<T> dropped;
  copy_rows(rows, x.head, T(x.scale), q + query * x.q_row, x.q_row, scaled, wide);
  const index_t first = x.sees.begin(x.position + query),
                last = x.sees.end(x.position + query + rows - 1);
  for (index_t key = first / sizes::keys * sizes::keys; key < last; key += sizes::keys) {
    const attention_tile<T> t(x, query, key);
    tile_scores(t, x.head, scaled, wide, k_t, s);
    for (index_t r = 0; r < rows; ++r) {
      const key_range in = t.range[r / register_rows];
      if (in.empty()) continue;
      T* row = s + r * sizes::row;
      hide_unseen(x, t, r, row);
      state.take(r, in, row, mixed + r * wide, x.head);
      if (x.dropout > 0) {
        const T* keep =
            dropped.fill(x, draw + (query + r) * x.draw_row, key + in.first, key + in.last);
#pragma omp simd simdlen(lanes<T>)
        for (index_t j = in.first; j < in.last; ++j) row[j] *= keep[j - in.first];
      }
    }
    tile_values(x, t, x.head, s, v, v_row, mixed, wide, state.begun);
  }
  for (index_t r = 0; r < rows; ++r) {
    const bool any = state.sum[r] != 0;  // NaN counts
    const T share = any ? T(1) / state.sum[r] : T(0);
    T* to = out + (query + r) * x.q_row;
    log_sum[(query + r) * x.log_row] =
        any ? state.greatest[r] + elementary::log(state.sum[r]) : T(0);
    if (any)
      copy_rows(1, x.head, share, mixed + r * wide, wide, to, x.head);
    else
      std::fill_n(to, x.head, T(0));
  }
}

/// The turns [first, last).
template <class T>
void attend_turns(const attention_problem& x, index_t first, index_t last, const T* q, const T* k,
                  const T* v, T* out, T* log_sum, T* scratch) {
  const dimesh::detail::writes_memory kernel;
  using sizes = attention_sizes<T>;
  T* const tiles = scratch + 2 * prepared_keys<T>::elements(x);
  index_t k_at = -1, v_at = -1, v_row = 0;
  const index_t* flags_at = nullptr;
  const T *k_t = nullptr, *v_rows = nullptr;
  attention_turn turn(x);
  for_each_turn(x, first, last, [&](const attention_problem::loop& o) {
    const attention_problem& now = turn.at(o);
    if (o.k != k_at || o.v != v_at || now.ids.flags() != flags_at) {
      prepared_keys<T> keys(turn.of_keys(), now.ids.flags(), scratch);
      k_t = keys.transposed(k + o.k, x.k_row);
      v_row = x.v_row;
      v_rows = keys.rows(v + o.v, v_row);
      k_at = o.k, v_at = o.v, flags_at = now.ids.flags();
    }
    for (index_t query = 0; query < x.queries; query += sizes::queries)
      attend_block(now, query, o.draw, q + o.q, k_t, v_rows, v_row, out + o.q, log_sum + o.log,
                   tiles);
  });
}

}  // namespace DIMESH_REGISTERS
}  // namespace detail

namespace detail {
/// Elements of a piece of the turns: a few tiles, and the keys of one head.
template <class T> constexpr index_t attention_room(const attention_problem& x) {
  using sizes = attention_sizes<T>;
  return sizes::queries * (2 * padded<T>(x.head) + sizes::row) + 2 * prepared_keys<T>::elements(x);
}
}  // namespace detail

/// Elements of T that `attention` needs as scratch, for each piece that a thread takes.
template <class T, class Space = default_space>
constexpr index_t attention_scratch(const attention_problem& x) {
  return detail::scratch_of_turns<T, Space>(x, detail::attention_room<T>(x));
}

/// out (outer.., queries, head) = the values v (outer.., keys, head) weighted by the softmax of
/// scale q . k over the keys that a query sees, 0 if it sees none; log_sum (outer.., queries) the
/// logarithm of the sum of exponentials (0 if none). Scratch aligned to 64 bytes.
template <class T, class Space = default_space>
void attention(const attention_problem& given, const T* q, const T* k, const T* v, T* out,
               T* log_sum, T* scratch) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::attend_in_blocks<Space>(given, q, k, v, out, log_sum);
  const attention_problem x = detail::shared_keys_last(given);
  detail::in_turns<Space>(x, scratch, detail::attention_room<T>(x),
                          [&](index_t first, index_t last, T* room) {
                            detail::attend_turns(x, first, last, q, k, v, out, log_sum, room);
                          });
}

}  // namespace dimesh::local

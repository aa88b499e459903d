// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which pairs of a query and a key meet in an attention on a device, what is drawn for them, and
// which rows are in a product? A thread asks for its own.
//
//   plain_attention<float> a{problem};   a.meet(a.seat(turn), query, key)
#pragma once

#include <algorithm>

#include "dimesh/local/attention_tile.hpp"
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

/// Which pairs of an attention meet, and what is drawn for them.
template <class T> struct plain_attention {
  attention_problem x;

  KOKKOS_INLINE_FUNCTION attention_seat seat(index_t turn) const {
    attention_seat s;
    for (int i = x.outer - 1; i >= 0; --i) {
      const division at = divided(turn, x.loops[i].extent);
      s.move(x.loops[i], at.rest);
      turn = at.whole;
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

/// How many queries are in a block of scores, whose elements are at most 2^26.
constexpr index_t queries_of_block(const attention_problem& x, index_t wanted = 512) {
  constexpr index_t most = index_t{1} << 26;
  const index_t pairs = x.turns() * x.keys;
  return std::clamp<index_t>(std::min(pairs > 0 ? most / pairs : x.queries, wanted), 1,
                             std::max(x.queries, index_t{1}));
}
/// A query's greatest score and sum are made for so many keys at a time.
inline constexpr index_t keys_of_part = 64;
/// Elements that attention in blocks takes for itself, while all of them are there; hides: lengths
/// or flags hide keys, whose rows are copied.
constexpr index_t room_of_blocks(const attention_problem& x, bool hides, bool back) {
  const index_t turns = x.turns(), rows = queries_of_block(x);
  if (turns == 0 || x.queries == 0) return 0;
  const index_t parts = std::max((x.keys + keys_of_part - 1) / keys_of_part, index_t{1});
  const index_t copies = hides ? 2 * turns * x.keys * x.head : 0, block = turns * x.keys * rows;
  return copies + (back ? 2 * block + turns * x.queries : block + 2 * turns * rows * parts);
}

/// The strides of one operand of a product. Where no loop has them, turns lie `turn` apart.
struct attention_strides {
  index_t attention_problem::loop::* outer;
  index_t turn, row, column;
};

/// Rows of keys or values, of which none that a length or a flag hides reaches a product, even
/// times 0: where there are such they are copied, once for each turn, and the hidden ones are 0.
/// Others that a query does not see (by its place, or its segment) must be finite: they count 0
/// times.
template <class T> struct seen_element {
  plain_attention<T> a;
  const T* from;
  T* to;
  bool values;
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const attention_problem& x = a.x;
    const index_t h = e % x.head, j = e / x.head % x.keys;
    const attention_seat s = a.seat(e / x.head / x.keys);
    const index_t row = values ? s.v + j * x.v_row : s.k + j * x.k_row;
    const bool flagged = !s.ids.any() || s.ids.queries != nullptr || s.ids.keys[j] == 1;
    to[e] = j < s.sees.keys && flagged ? from[row + h] : T(0);
  }
};
template <class Space, class T> struct attention_rows {
  using loop = attention_problem::loop;
  const T* at;
  attention_strides strides;
  dimesh::detail::storage room;

  attention_rows(const attention_problem& x, const T* from, bool values)
      : at(from), strides{values ? &loop::v : &loop::k, 0, values ? x.v_row : x.k_row, 1} {
    const bool flags = x.ids.any() && x.ids.queries == nullptr;
    if (x.lengths == nullptr && !flags) return;
    const index_t size = x.turns() * x.keys * x.head;
    room = dimesh::detail::storage::acquire(static_cast<std::size_t>(size) * sizeof(T));
    T* const to = static_cast<T*>(room.data());
    each_for_itself<Space>(size, seen_element<T>{{x}, from, to, values});
    at = to;
    strides = {nullptr, x.keys * x.head, x.head, 1};
  }
};

}  // namespace detail
}  // namespace dimesh::local

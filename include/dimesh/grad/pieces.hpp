// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are many tensors summed in few messages? What goes along the same axes of the same grid, in
// elements of one kind, is a group: one reduction, in place where it lies side by side, otherwise
// packed.
//
//   piece pieces[n];   reduce_pieces(pieces, n);   // to[...] = the sums over ranks of from[...]
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/grid.hpp"

namespace dimesh::detail {

/// Who adds up what: the ranks along some axes of a grid, elements of one kind. With null and 0
/// there is nothing to do.
struct sum_group {
  const grid_state* grid = nullptr;
  unsigned axes = 0;
  collective::wire element;
  bool operator==(const sum_group&) const = default;
};

/// One tensor of a struct that is being completed.
struct piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  index_t bytes = 0;  // of elements
  sum_group group;

  index_t end() const { return (bytes + 63) / 64 * 64; }
  bool goes() const { return group.axes != 0 && bytes > 0; }
};

/// Does piece b lie right behind piece a, and go the same way?
inline bool joins(const piece& a, const piece& b) {
  return a.group == b.group && a.from + a.end() == b.from && a.to + a.end() == b.to;
}

/// The pieces of one group as they lie.
struct piece_group {
  sum_group of;
  index_t bytes = 0;
  int runs = 0;  // how many stretches of memory

  bool has(const piece& p) const { return p.group == of; }
};

inline piece_group group_of(const piece* p, int count, const sum_group& of) {
  piece_group g{of};
  for (int i = 0; i < count; ++i) {
    if (!g.has(p[i])) continue;
    const bool joined = i > 0 && joins(p[i - 1], p[i]);
    g.runs += !joined;
    g.bytes += i + 1 < count && joins(p[i], p[i + 1]) ? p[i].end() : p[i].bytes;
  }
  return g;
}

inline void reduce_bytes(const piece_group& g, const std::byte* from, std::byte* to,
                         index_t bytes) {
  const collective::wire& w = g.of.element;
  collective::all_reduce_elements(g.of.grid->along(g.of.axes), w, from, to, bytes / w.size);
}

/// Copies the pieces of a group into one buffer, sums it, and copies them out.
inline void reduce_packed(const piece* p, int count, const piece_group& g) {
  const storage packed = storage::acquire(static_cast<std::size_t>(g.bytes));
  auto* const data = static_cast<std::byte*>(packed.data());
  for (const bool out : {false, true}) {
    std::byte* at = data;
    for (int i = 0; i < count; ++i) {
      if (!g.has(p[i])) continue;
      if (out)
        collective::copy(at, p[i].to, p[i].bytes);
      else
        collective::copy(p[i].from, at, p[i].bytes);
      at += p[i].bytes;
    }
    if (!out) reduce_bytes(g, data, data, at - data);
  }
}

inline void reduce_in_place(const piece* p, const piece_group& g) {
  int first = 0;
  while (!g.has(p[first])) ++first;
  reduce_bytes(g, p[first].from, p[first].to, g.bytes);
}

/// Sums all pieces, one reduction a group, in the order in which groups first appear.
inline void reduce_pieces(const piece* p, int count) {
  for (int i = 0; i < count; ++i) {
    bool seen = !p[i].goes();
    for (int j = 0; j < i && !seen; ++j) seen = p[j].goes() && p[j].group == p[i].group;
    if (seen) continue;
    const piece_group g = group_of(p, count, p[i].group);
    if (g.runs == 1)
      reduce_in_place(p, g);
    else
      reduce_packed(p, count, g);
  }
}

}  // namespace dimesh::detail

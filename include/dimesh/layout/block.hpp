// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which part of a dim does a rank hold? Blocks nest: the first axis cuts the dim into blocks of
// ceil(n/p), the next axis cuts those blocks likewise, so that gathering the minor axis of a split
// always gives the coarser split. The last blocks may be shorter, or empty.
//
//   block_at(t, d, 10, {4}, {1})  -> {offset 3, length 3}     blocks 3 3 3 1
//   block_at(t, d, 10, {4}, {3})  -> {offset 9, length 1}     t, d: a table and its dim
#pragma once

#include "dimesh/layout/spec.hpp"

namespace dimesh {

/// A run of a dim's elements: what one rank holds of it, halo not counted.
struct block {
  index_t offset = 0;  ///< global index of the first element
  index_t length = 0;  ///< elements
  constexpr bool operator==(const block&) const = default;
};

namespace detail {

/// One cut more: the i-th of p sub-blocks of a block whose full (unclipped) length is `full`.
struct cut {
  block now;
  index_t full = 0;  // length before clipping at the end of the dim
  constexpr void into(index_t p, index_t i) {
    const index_t part = (full + p - 1) / p;
    const index_t start = part * i < full ? part * i : full;
    index_t length = now.length - start;
    const index_t room = full - start < part ? full - start : part;
    length = length < 0 ? 0 : (length > room ? room : length);
    const index_t begin = start < now.length ? start : now.length;
    now = {now.offset + begin, length};
    full = part;
  }
};

/// The block of dim d (of n elements) at some coordinates under a table.
constexpr block block_at(const table& t, int d, index_t n, const index_t* sizes,
                         const index_t* coords) {
  cut c{{0, n}, n};
  for (int level = 0, a = 0; (a = t.axis_at(d, level)) >= 0; ++level) c.into(sizes[a], coords[a]);
  return c.now;
}

/// How many blocks a dim is cut into.
constexpr index_t ranks_over(const table& t, int d, const index_t* sizes) {
  index_t ranks = 1;
  for (int a = 0; a < t.axes; ++a)
    if (t.axis[a].what == use::split && t.axis[a].dim == d) ranks *= sizes[a];
  return ranks;
}

/// The length of every block of D, if the compiler can know that all are equal; else dynamic. It
/// cannot where ranks have none.
/// A halo counts: it is part of what a rank stores.
template <class S, Dim D> constexpr index_t static_block_length() {
  constexpr int d = index_of<D, typename S::dims>;
  index_t n = static_extent<D>;
  if (S::table.mask(use::placed) != 0) return dynamic;
  for (int a = 0; a < S::table.axes; ++a)
    if (S::table.axis[a].what == use::split && S::table.axis[a].dim == d) {
      const index_t size = S::mesh::static_sizes[static_cast<std::size_t>(a)];
      if (size == dynamic || S::table.uneven[d] || n == dynamic) return dynamic;
      n /= size;
    }
  return n == dynamic ? dynamic : n + S::table.halo[d].both();
}

}  // namespace detail
}  // namespace dimesh

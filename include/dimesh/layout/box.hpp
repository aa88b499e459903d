// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which part of all dims at once does a rank hold, and which part of that does another one need?
// Boxes: a block per dim. Redistributions are intersections of boxes; the numbers below are known
// to every rank, and to the compiler where sizes are.
//
//   box_at(table, {8, 4}, sizes, coords)      -> {begin {4, 0}, length {4, 4}}
//   intersection(mine, theirs).size()         -> elements to send
#pragma once

#include <bit>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/layout/cut_list.hpp"

namespace dimesh::detail {

/// A block of every dim of a tensor, by place; halos are not part of it.
struct box {
  int rank = 0;
  bool none = false;  // of a rank that holds nothing of the tensor
  index_t begin[max_dims]{}, length[max_dims]{};

  constexpr index_t size() const {
    index_t n = none ? 0 : 1;
    for (int d = 0; d < rank; ++d) n *= length[d];
    return n;
  }
};

/// What the rank at `coords` holds of a tensor with these extents.
constexpr box box_at(const table& t, int rank, const index_t* extent, const index_t* sizes,
                     const index_t* coords, const cut_source& cuts = {}) {
  box b;
  b.rank = rank;
  b.none = t.away_from(coords) != 0;
  for (int d = 0; d < rank && !b.none; ++d) {
    const block part = block_under(t, d, extent[d], sizes, coords, cuts);
    b.begin[d] = part.offset;
    b.length[d] = part.length;
  }
  return b;
}

constexpr box intersection(const box& a, const box& b) {
  box c;
  c.rank = a.rank;
  c.none = a.none || b.none;
  for (int d = 0; d < a.rank; ++d) {
    const index_t begin = a.begin[d] > b.begin[d] ? a.begin[d] : b.begin[d];
    const index_t a_end = a.begin[d] + a.length[d], b_end = b.begin[d] + b.length[d];
    const index_t end = a_end < b_end ? a_end : b_end;
    c.begin[d] = begin;
    c.length[d] = end > begin ? end - begin : 0;
  }
  return c;
}

/// Element strides of a row-major array that holds the box.
struct strides {
  index_t at[max_dims]{};
  constexpr explicit strides(const box& b) {
    index_t n = 1;
    for (int d = b.rank - 1; d >= 0; --d) {
      at[d] = n;
      n *= b.length[d];
    }
  }
  constexpr const index_t* data() const { return at; }
};

/// Where the first element of `part` lies in a row-major array that holds `whole`.
constexpr index_t offset_in(const box& whole, const box& part) {
  const strides stride(whole);
  index_t at = 0;
  for (int d = 0; d < whole.rank; ++d) at += (part.begin[d] - whole.begin[d]) * stride.at[d];
  return at;
}

/// Is `part` one run of consecutive elements of a row-major array that holds `whole`?
constexpr bool is_run(const box& whole, const box& part) {
  int d = whole.rank - 1;
  while (d >= 0 && part.length[d] == whole.length[d]) --d;
  for (--d; d >= 0; --d)
    if (part.length[d] != 1) return false;
  return true;
}

/// The axes of the mask with more than one rank along them: those over which there is talk.
DIMESH_OUTLINE constexpr unsigned talking(unsigned axes, const index_t* sizes) {
  unsigned some = 0;
  for (unsigned rest = axes; rest != 0; rest &= rest - 1)
    if (sizes[std::countr_zero(rest)] > 1) some |= rest & -rest;
  return some;
}

/// How many ranks differ along these axes only.
DIMESH_OUTLINE constexpr index_t group_size(unsigned axes, const index_t* sizes) {
  index_t n = 1;
  for (unsigned rest = axes; rest != 0; rest &= rest - 1) n *= sizes[std::countr_zero(rest)];
  return n;
}

/// Coordinates of a rank's peers: those of rank r of the communicator over `axes`, and its own
/// along other axes (null: the origin's).
struct peer {
  index_t coords[max_axes]{};
  constexpr peer(index_t r, unsigned axes, const index_t* sizes, const index_t* mine) {
    for (int a = max_axes - 1; a >= 0; --a) {
      if (axes >> a & 1u) {
        coords[a] = r % sizes[a];
        r /= sizes[a];
      } else if (mine != nullptr) {
        coords[a] = mine[a];
      }
    }
  }
};

/// All that blocks depend on besides a layout: extents, the mesh, and whose blocks (null: the rank
/// at the origin, or where else a tensor lives). Code on placements and tables is shared by all
/// tensor types.
struct placement {
  int rank = 0;
  index_t extent[max_dims]{};
  const index_t* sizes = nullptr;
  const index_t* coords = nullptr;
  cut_source cuts;

  /// The block under a table of rank r of the communicator over `axes`.
  constexpr box peers(const table& t, index_t r, unsigned axes) const {
    if (coords == nullptr) return at_place(t, r, axes);
    return box_at(t, rank, extent, sizes, peer(r, axes, sizes, coords).coords, cuts);
  }
  constexpr box own(const table& t) const { return peers(t, 0, 0); }
  /// Of the rank at the origin, or where else the tensor lives.
  constexpr box origins(const table& t) const { return at_place(t, 0, 0); }
  /// As many elements as no block exceeds.
  constexpr index_t most(const table& t) const {
    index_t n = 1;
    for (int d = 0; d < rank; ++d) n *= longest_block(t, d, extent[d], sizes, cuts);
    return n;
  }
  constexpr box whole() const {
    box b;
    b.rank = rank;
    for (int d = 0; d < rank; ++d) b.length[d] = extent[d];
    return b;
  }

 private:
  constexpr box at_place(const table& t, index_t r, unsigned axes) const {
    return box_at(without_axes(t, t.mask(use::placed)), rank, extent, sizes,
                  peer(r, axes, sizes, nullptr).coords, cuts);
  }
};

}  // namespace dimesh::detail

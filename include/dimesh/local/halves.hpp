// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do sums of many rounded numbers keep their digits? A term that is added to a sum a million
// times as large loses six of them, and floats from 2^24 terms on lose it whole. So long sums are
// those of two halves of their terms, each made likewise: rounding grows with the logarithm of
// their number then (Higham, SIAM J. Sci. Comput. 14, 1993, section 4).
//
//   in_halves(l, true, join, leaf)                  leaf(part) fills the results of a part
//   halved_group(l.groups, l.extent, l.stride[0])   which group to halve; -1: it is short enough
#pragma once

#include "dimesh/local/row_loops.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::local::detail {

/// So many terms are added one after another: enough that a half is worth results of its own.
inline constexpr index_t longest_sum = 4096;

/// The outermost of these groups that results, whose strides these are, do not have, where they
/// stand for more terms than may be added one after another; else -1.
constexpr int halved_group(int groups, const index_t* extent, const index_t* stride,
                           index_t longest = longest_sum) {
  index_t terms = 1;
  int outermost = -1;
  for (int g = groups - 1; g >= 0; --g)
    if (stride[g] == 0 && extent[g] > 1) terms *= extent[g], outermost = g;
  return terms > longest ? outermost : -1;
}

/// The elements of array k: it has those groups along which it moves.
inline index_t elements_of(const array_loops& l, int k) {
  index_t n = 1;
  for (int g = 0; g < l.groups; ++g) n *= l.stride[k][g] != 0 ? l.extent[g] : 1;
  return n;
}

/// Calls leaf(part) for l, or, where sums are rounded, for halves of it, whose results, in array 0,
/// are joined. Sums of rows are the kernels' own (reduce.hpp), where these are not in tiles.
template <class Leaf>
void in_halves(const array_loops& l, bool rounded,
               void (*join)(std::byte*, const std::byte*, index_t), const Leaf& leaf) {
  const int last = l.groups - 1;
  const bool rows = last >= 0 && l.stride[0][last] == 0 && across_group(l) < 0;
  const int g = rounded ? halved_group(rows ? last : l.groups, l.extent, l.stride[0]) : -1;
  if (g < 0) return leaf(l);
  const index_t half = l.extent[g] / 2, size = elements_of(l, 0);
  in_halves(l.part(g, 0, half), rounded, join, leaf);
  const auto room = dimesh::detail::storage::acquire(static_cast<std::size_t>(size * l.bytes[0]));
  array_loops rest = l.part(g, half, l.extent[g]);
  rest.at[0] = static_cast<std::byte*>(room.data());
  in_halves(rest, rounded, join, leaf);
  join(l.at[0], rest.at[0], size);
}

}  // namespace dimesh::local::detail

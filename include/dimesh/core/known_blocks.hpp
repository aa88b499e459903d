// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the blocks of a result lie that has another layout than its operand? They follow from
// the two layouts, the extents and the rank's place on the grid: a program that goes on as before
// finds what it worked out then. Kept by each thread, as many as fit.
//
//   if (!recall_blocks(y, x)) { ...; note_blocks(y, x); }
#pragma once

#include <cstdint>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

struct known_blocks {
  const tensor_facts *to = nullptr, *from = nullptr;
  const grid_state* grid = nullptr;
  dim_runs::few_runs operand, result;
  unsigned away = 0;  // of the result

  /// One of so many places, by both types.
  static known_blocks& of(const tensor_facts* to, const tensor_facts* from) {
    constexpr int bits = 5;
    static constinit thread_local known_blocks all[1 << bits];
    const std::uint64_t both = reinterpret_cast<std::uintptr_t>(to) +
                               3 * std::uint64_t{reinterpret_cast<std::uintptr_t>(from)};
    return all[both * 0x9e3779b97f4a7c15ull >> (64 - bits)];
  }
  bool are_of(const tensor_core& y, const tensor_core& x) const {
    if (to != y.facts || from != x.facts || grid != x.grid || x.cuts || y.cuts) return false;
    const index_t* const n = x.runs.extents();
    for (int d = 0; d < from->rank; ++d)
      if (operand.extent[d] != n[d]) return false;
    return true;
  }
};

/// May they be kept? Not where cuts or more dims than most have say more.
inline bool keeps_blocks(const tensor_core& y, const tensor_core& x) {
  return x.grid != nullptr && !x.is_shape && !x.cuts && !y.cuts && y.runs.are_few() &&
         x.runs.are_few();
}

/// Extents and blocks of y, a result of x alone, if they are known. On the grid of x.
bool recall_blocks(tensor_core& y, const tensor_core& x);
void note_blocks(const tensor_core& y, const tensor_core& x);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool recall_blocks(tensor_core& y, const tensor_core& x) {
  const known_blocks& known = known_blocks::of(y.facts, x.facts);
  if (!known.are_of(y, x)) return false;
  y.runs.become(known.result);
  y.away = known.away;
  return true;
}
DIMESH_OUTLINE inline void note_blocks(const tensor_core& y, const tensor_core& x) {
  if (!keeps_blocks(y, x)) return;
  known_blocks::of(y.facts, x.facts) = {y.facts,      x.facts,      x.grid,
                                        x.runs.few(), y.runs.few(), y.away};
}
#endif

}  // namespace dimesh::detail

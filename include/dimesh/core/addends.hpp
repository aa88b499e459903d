// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Along which partial axes is a value to be counted once? A tensor may note that every rank holds
// its whole value; where such a value meets real addends, all ranks but the first take zeros
// instead (docs/decisions/0002).
//
//   settle_addends(memory, grid, axes, bytes)   // zeros on all but the first rank along the axes
#pragma once

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::detail {

/// On all but the first rank along `axes`, zeros in place of what the memory holds.
void settle_addends(storage& memory, const grid_state& grid, unsigned axes, index_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void settle_addends(storage& memory, const grid_state& grid, unsigned axes,
                                          index_t bytes) {
  bool first = true;
  for (int a = 0; a < max_axes; ++a)
    if (axes >> a & 1u) first = first && grid.coords()[a] == 0;
  if (first) return;
  memory = storage::acquire(static_cast<std::size_t>(bytes), memory.space());
  const in_space here(memory.space());
  zero_bytes(memory.data(), bytes);
}
#endif

/// The same value with addends that really add up along `axes`.
constexpr void settle(tensor_core& x, unsigned axes) {
  x.once &= ~axes;
  if (!x.is_shape && x.away == 0) settle_addends(x.memory, *x.grid, axes, x.bytes());
}

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops make up a contraction of two blocks? One for each dim that stands in them or in the
// result; the kernel finds the matrix products in them (local/contraction.hpp). Done at run time on
// a handful of numbers, so that it costs the compiler nothing.
//
//   [b t d] . [d f] -> [b t f]           loops b, t, f, d: one product, m = b*t, k = d, n = f
//   [b t h d] . [b s h d] -> [b h t s]   loops b, h, t, s, d: b*h products, strides as stored
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/local/contraction.hpp"
#include "dimesh/op/parts/loop_plan.hpp"

namespace dimesh::detail {

/// c = the sum over dims that c lacks of a * b. The dims: those of c, then those that are summed,
/// in a's order.
local::contraction contraction_over(const loop_dims& dims, const tensor_core& c,
                                    const tensor_core& a, const tensor_core& b);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline local::contraction contraction_over(const loop_dims& dims,
                                                          const tensor_core& c,
                                                          const tensor_core& a,
                                                          const tensor_core& b) {
  local::contraction y;
  for (int i = 0; i < dims.count; ++i) y.extent[i] = dims.length[i];
  strides_along(dims, a, y.a_outer);
  strides_along(dims, b, y.b_outer);
  strides_along(dims, c, y.c_outer);
  y.outer = dims.count;
  return y;
}
#endif

}  // namespace dimesh::detail

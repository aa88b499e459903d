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
  const auto stride = [](const tensor_core& x, const dim_facts* d) {
    const int place = x.facts->place_of(d);
    return place < 0 ? index_t{0} : x.stride(place);
  };
  local::contraction y;
  for (int i = 0; i < dims.count; ++i) {
    y.extent[i] = dims.length[i];
    y.a_outer[i] = stride(a, dims.dim[i]);
    y.b_outer[i] = stride(b, dims.dim[i]);
    y.c_outer[i] = stride(c, dims.dim[i]);
  }
  y.outer = dims.count;
  return y;
}
#endif

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops visit the elements of several tensors in step? One loop for each group of dims that
// every tensor either lacks or stores side by side in the same order. Found at run time on a
// handful of numbers, so that it costs the compiler nothing.
//
//   loops_over(y, y, a, b)   -> loops<3> over the dims of y: strides of y, a and b in each group
#pragma once

#include <array>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/local/loops.hpp"

namespace dimesh::detail {

/// Dims to loop over, in order, and how many elements of each a rank has.
struct loop_dims {
  int count = 0;
  const dim_facts* dim[max_dims]{};
  index_t length[max_dims]{};

  constexpr loop_dims() = default;
  /// Those of a tensor.
  explicit loop_dims(const tensor_core& x) {
    for (int d = 0; d < x.rank(); ++d) add(x, d);
  }
  void add(const tensor_core& x, int d) {
    dim[count] = x.facts->dim[d];
    length[count++] = x.local(d);
  }
};

/// Groups of dims and the strides of arrays along them, array k at stride[k].
int plan_loops(const loop_dims& over, const tensor_core* const* x, int count, index_t* extent,
               index_t (*stride)[max_dims]);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline int plan_loops(const loop_dims& over, const tensor_core* const* x, int count,
                                     index_t* extent, index_t (*stride)[max_dims]) {
  int groups = 0;
  index_t length = 1;
  for (int d = 0; d < over.count; ++d) {
    length *= over.length[d];
    bool merges = d + 1 < over.count;
    for (int k = 0; k < count && merges; ++k) {
      const int here = x[k]->facts->place_of(over.dim[d]);
      const int next = x[k]->facts->place_of(over.dim[d + 1]);
      merges = here < 0 ? next < 0 : next == here + 1;
    }
    if (merges) continue;
    for (int k = 0; k < count; ++k) {
      const int place = x[k]->facts->place_of(over.dim[d]);
      stride[k][groups] = place < 0 ? 0 : x[k]->stride(place);
    }
    extent[groups++] = length;
    length = 1;
  }
  return groups;
}
#endif

/// The loops over some dims of the blocks of tensors.
template <class... X>
local::loops<static_cast<int>(sizeof...(X))> loops_over(const loop_dims& over, const X&... x) {
  local::loops<static_cast<int>(sizeof...(X))> l;
  const tensor_core* const all[] = {&x...};
  l.groups = plan_loops(over, all, sizeof...(X), l.extent, l.stride);
  return l;
}

}  // namespace dimesh::detail

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
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/loops.hpp"

namespace dimesh::detail {

/// Dims to loop over, in order, and how many elements of each a rank has.
struct loop_dims {
  int count = 0;
  const dim_facts* dim[max_dims];  // of the first `count`
  index_t length[max_dims];

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
/// Has every tensor these dims and no others, in this order, or none at all?
inline bool all_alike(const loop_dims& over, const tensor_core* const* x, int count) {
  const tensor_facts* last = nullptr;
  for (int k = 0; k < count; ++k) {
    const tensor_facts& f = *x[k]->facts;
    if (f.rank == 0 || &f == last) continue;
    last = &f;
    if (f.rank != over.count) return false;
    for (int d = 0; d < f.rank; ++d)
      if (!same_dim(f.dim[d], over.dim[d])) return false;
  }
  return true;
}
/// The strides of a tensor along these dims, 0 where it lacks them, and which of them it does not
/// store just before the next one.
inline unsigned strides_along(const loop_dims& over, const tensor_core& x, index_t* stride) {
  const writes_arrays host;
  index_t by[max_dims];
  index_t n = 1;
  for (int d = x.rank() - 1; d >= 0; --d) {
    by[d] = n;
    n *= x.local(d);
  }
  unsigned apart = 0;
  int before = -1;  // the place of the dim before
  for (int d = 0; d < over.count; ++d) {
    const int at = x.facts->place_of(over.dim[d]);
    stride[d] = at < 0 ? 0 : by[at];
    if (d > 0 && (before < 0 ? at >= 0 : at != before + 1)) apart |= 1u << (d - 1);
    before = at;
  }
  return apart;
}
DIMESH_OUTLINE inline int plan_loops(const loop_dims& over, const tensor_core* const* x, int count,
                                     index_t* extent, index_t (*stride)[max_dims]) {
  const writes_arrays host;
  if (over.count == 0) return 0;
  if (all_alike(over, x, count)) {
    extent[0] = 1;
    for (int d = 0; d < over.count; ++d) extent[0] *= over.length[d];
    for (int k = 0; k < count; ++k) stride[k][0] = x[k]->rank() > 0;
    return 1;
  }
  unsigned ends = 1u << (over.count - 1);  // dims that end a group
  for (int k = 0; k < count; ++k) ends |= strides_along(over, *x[k], stride[k]);
  int groups = 0;
  index_t length = 1;
  for (int d = 0; d < over.count; ++d) {
    length *= over.length[d];
    if (!(ends >> d & 1u)) continue;
    for (int k = 0; groups != d && k < count; ++k) stride[k][groups] = stride[k][d];
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

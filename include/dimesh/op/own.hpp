// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a replicated dim become split? Every rank keeps its own block of it: no communication.
// The backward pass puts the block among zeros, which makes addends.
//
//   own<hidden, cols>(tensor<T, layout<pod>, hidden>)
//     -> tensor<T, layout<pod, split<hidden, cols>>, hidden>
#pragma once

#include "dimesh/op/parts/blocks.hpp"

namespace dimesh {

/// Dim D split over A: each rank's own block. Shapes stay; A becomes the last axis in the split of
/// D, which may be written uneven<dim>.
template <class D, Axis A, Operand X> constexpr auto own(const X& x) {
  using rule = detail::scatter_rule<D, A, use::replicated>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "own: the tensor's mesh lacks this axis; name one that the tensor is replicated along");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "own: the tensor lacks the dim to be split; name one of its dims");
  static_assert(ok<only<fault, axis_not_replicated>>,
                "own: the tensor is not replicated along this axis; use reduce_scatter where it is "
                "partial, all_to_all where the axis splits another dim");
  static_assert(ok<only<fault, dim_has_halo>>,
                "own: the blocks carry halos; take own<dim, axis> before halo_exchange instead");
  static_assert(ok<only_not_divisible<fault>>,
                "own: the extent of the dim is not a multiple of its mesh axes; change one, or say "
                "own<uneven<dim>, axis>");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(detail::cut_op<value_of<X>>{}, x);
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a partial tensor become split? The addends that the ranks along an axis hold are summed,
// and every rank keeps one block of a dim only: half the traffic of an all_reduce.
//
//   reduce_scatter<hidden, cols>(tensor<T, layout<pod, partial<cols>>, hidden>)
//     -> tensor<T, layout<pod, split<hidden, cols>>, hidden>     (n-1)/n of its bytes a rank (ring)
#pragma once

#include "dimesh/op/parts/blocks.hpp"

namespace dimesh {

/// The sum over the addends along A, dim D split over A. Shapes stay; A becomes the last axis in
/// the split of D, which may be written uneven<dim>.
template <class D, Axis A, Operand X> constexpr auto reduce_scatter(const X& x) {
  using rule = detail::scatter_rule<D, A, use::partial>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, axis_not_in_mesh>>,
                "reduce_scatter: the tensor's mesh lacks this axis; name one that the tensor is "
                "partial along");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "reduce_scatter: the tensor lacks the dim to be split; name one of its dims");
  static_assert(ok<only<fault, axis_not_partial>>,
                "reduce_scatter: the tensor holds no addends along this axis; use own where it "
                "is replicated");
  static_assert(ok<only<fault, element_not_summable>>,
                "reduce_scatter: ranks cannot add up elements of this type; cast the tensor first");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "reduce_scatter: the blocks carry halos; reduce the tensor before halo_exchange instead");
  static_assert(
      ok<only_not_divisible<fault>>,
      "reduce_scatter: the extent of the dim is not a multiple of its mesh axes; change one, or "
      "say reduce_scatter<uneven<dim>, axis>");
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(detail::reduce_scatter_op<value_of<X>>{}, x);
}

}  // namespace dimesh

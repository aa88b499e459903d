// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a split dim become whole everywhere? Every rank hands its block to the others along the
// axes; blocks land where their global offsets say. The backward pass is a reduce_scatter.
//
//   all_gather<cols>(tensor<T, layout<pod, split<hidden, cols>>, hidden>)
//     -> tensor<T, layout<pod>, hidden>      (n-1)/n of the whole's bytes a rank (ring)
#pragma once

#include "dimesh/op/parts/blocks.hpp"

namespace dimesh {

namespace detail {

/// A is the last axis in the split of its dim.
template <class A> struct all_gather_rule : keeps_dims {
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int a = x[0].axis_of(type_number<A>);
    if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
    const axis_use u = x[0].layout.axis[a];
    if (u.what != use::split) return blamed_axis(fault_code::axis_splits_nothing, a);
    if (u.level + 1 != x[0].layout.split_count(u.dim))
      return blamed(fault_code::axis_not_innermost_of_dim, x[0].dim[static_cast<int>(u.dim)], a);
    return gather_rule_of(x[0], 1u << a);
  }
};

}  // namespace detail

/// The dim that axis A splits, whole along A. Shapes stay; A is the last axis in the split of its
/// dim.
template <Axis A, Operand X> constexpr auto all_gather(const X& x) {
  using rule = detail::all_gather_rule<A>;
  using fault = detail::fault_of<rule, X>;
  static_assert(
      ok<only<fault, axis_not_in_mesh>>,
      "all_gather: the tensor's mesh lacks this axis; name one that splits a dim of the tensor");
  static_assert(
      ok<only<fault, axis_splits_nothing>>,
      "all_gather: the axis splits no dim of the tensor; name one that does, or use whole<dim>");
  static_assert(ok<only<fault, axis_not_innermost_of_dim>>,
                "all_gather: another axis cuts the blocks of this one; gather over that axis "
                "first, or use whole<dim>");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "all_gather: the blocks carry halos; gather the tensor before halo_exchange instead");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    detail::check<rule>("all_gather", x);
    constexpr unsigned axes = axis_mask<typename spec_of<X>::mesh, A>;
    return detail::apply_or_share_by<rule>(detail::all_gather_op<value_of<X>>{}, x,
                                           detail::talking(axes, detail::sizes_of(x)) == 0);
  }
}

}  // namespace dimesh

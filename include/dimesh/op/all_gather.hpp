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

template <class A, class X> struct all_gather_fault {
  using S = spec_of<X>;
  using mesh = typename S::mesh;
  static constexpr auto find() {
    constexpr int a = axis_index<mesh, A>;
    if constexpr (a < 0) {
      return tag<axis_not_in_mesh<A, mesh>>{};
    } else if constexpr (S::table.axis[a].what != use::split) {
      return tag<axis_splits_nothing<A>>{};
    } else {
      constexpr axis_use u = S::table.axis[a];
      using D = type_at<u.dim, typename S::dims>;
      if constexpr (u.level + 1 != S::table.split_count(u.dim))
        return tag<axis_not_innermost_of_dim<D, A>>{};
      else
        return tag<typename any_halo_fault<S>::type>{};
    }
  }
  using type = typename decltype(find())::type;
};
template <class A, class X>
  requires is_poison<X>
struct all_gather_fault<A, X> {
  using type = no_fault;
};

}  // namespace detail

/// The dim that axis A splits, whole along A. Shapes stay; A is the last axis in the split of its
/// dim.
template <Axis A, Operand X> constexpr auto all_gather(const X& x) {
  using fault = typename detail::all_gather_fault<A, X>::type;
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
    constexpr unsigned axes = 1u << axis_index<typename spec_of<X>::mesh, A>;
    return detail::apply_or_share<detail::under<spec_of<X>, detail::gathered_layout<X, axes>>>(
        detail::all_gather_op<value_of<X>>{}, x, detail::talking(axes, detail::sizes_of(x)) == 0);
  }
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a tensor whose type cannot be? One type for each fault, which says what is wrong once,
// and is poison to every operation.
//
//   tensor<float, split<batch, rows>, hidden>   -> malformed_tensor<not_a_layout<...>, mesh<>>
#pragma once

#include "dimesh/core/typed.hpp"

namespace dimesh {

/// The type of every tensor with this fault, keyed by the fault alone: one mistake is one error
/// however many tensors have it. Operations take it for poison.
template <class Fault, class M> struct malformed_tensor : poison {
  using poison::poison;
  using spec_type = spec<float, layout<M>>;
  using value_type = float;
  using mesh_type = M;

  static_assert(
      ok<only<Fault, not_an_element>>,
      "tensor: this is no type of elements; the order is tensor<element, layout, dims...>");
  static_assert(ok<only<Fault, not_a_layout>>,
                "tensor: this is no layout; the order is tensor<element, layout<mesh, rules...>, "
                "dims...>");
  static_assert(ok<only<Fault, not_a_dim>>,
                "tensor: a dim is wanted here, in the tensor or in split<dim, axis>; name a struct "
                "that derives from dim<extent>");
  static_assert(ok<only<Fault, not_an_axis>>,
                "tensor: an axis is wanted here, as in split<dim, axis> and partial<axis>; name a "
                "struct that derives from axis<size>");
  static_assert(ok<only<Fault, not_a_mesh>>,
                "tensor: a layout begins with its mesh; write layout<mesh, rules...>");
  static_assert(ok<only<Fault, not_a_rule>>,
                "tensor: a layout lists rules, and this is none; write split<dim, axis>, "
                "partial<axis> or spread<axis>");
  static_assert(ok<only<Fault, split_without_axis>>,
                "tensor: a rule of the layout splits a dim over no axis; write split<dim, axis>");
  static_assert(
      ok<only<Fault, axis_not_in_mesh>>,
      "tensor: the layout names an axis that its mesh lacks; add it to the mesh or drop the rule");
  static_assert(
      ok<only<Fault, axis_used_twice>>,
      "tensor: two rules of the layout use one mesh axis; an axis does one thing: drop one rule");
  static_assert(
      ok<only<Fault, dim_has_two_rules>>,
      "tensor: the layout has two rules for one dim; write one split<dim, axis, axis...>");
  static_assert(ok<only<Fault, place_not_on_axis>>,
                "tensor: the layout places the tensor where this axis has no rank; name a "
                "coordinate from 0 to its size - 1");
  static_assert(ok<only<Fault, dim_repeated>>,
                "tensor: a dim stands twice in one tensor; rename one of them");
  static_assert(ok<only<Fault, dims_share_mesh_axis>>,
                "tensor: two dims are split over the same mesh axis; split one of them over "
                "another axis, or not at all");
  static_assert(ok<only_not_divisible<Fault>>,
                "tensor: the extent of a split dim is not a multiple of its mesh axes; change one, "
                "or split uneven<dim>");
};
template <class Fault, class M> inline constexpr bool is_poison<malformed_tensor<Fault, M>> = true;

}  // namespace dimesh

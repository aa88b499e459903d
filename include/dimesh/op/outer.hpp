// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are all pairs of two tensors' elements multiplied? By name: operators want one operand with
// all dims of the result, so that nobody spreads a loss over batch times batch by a wrong name.
//
//   outer(x[batch/rows], w[hidden])             -> tensor[batch/rows, hidden]
//   outer(x[batch, hidden], y[batch, label])    -> tensor[batch, hidden, label]: batch by batch
//   x * w                                       -> no_operand_has_all_dims<hidden, batch>
#pragma once

#include "dimesh/op/arithmetic.hpp"

namespace dimesh {

/// The products of the elements of x and y: dims that both have go together, all others stand side
/// by side, in the order in which they appear. Shapes: any. Layouts as of a product: a partial
/// operand keeps its addends beside a replicated one. Local.
template <Operand X, Operand Y> constexpr auto outer(const X& x, const Y& y) {
  using fault = detail::map_fault<detail::join_kind::product, X, Y>;
  static_assert(ok<only<fault, both_operands_partial>>,
                "outer: both operands are sums yet to be made; complete one of them first");
  static_assert(ok<only<fault, partial_meets_split>>,
                "outer: one operand is a sum yet to be made along an axis that splits the other; "
                "complete it first");
  static_assert(ok<only<fault, partial_operand>>,
                "outer: an operand is a maximum or minimum yet to be made; complete it first");
  static_assert(ok<only<fault, dim_split_in_one_operand_only>>,
                "outer: a dim is split in one operand only; take own<dim, axis> of the other "
                "(free), or gather it with whole<dim>");
  static_assert(
      ok<only<fault, dim_split_differently, dims_share_mesh_axis>>,
      "outer: the operands are split differently, or two dims over one axis; relayout one "
      "of them");
  static_assert(ok<only<fault, meshes_differ>>,
                "outer: the operands live on different meshes; put them on one");
  return detail::map_called<detail::join_kind::product>("outer", detail::multiply_function{}, x, y);
}

}  // namespace dimesh

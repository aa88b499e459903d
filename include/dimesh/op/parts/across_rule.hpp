// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// May a tensor go to another mesh, under a layout and to a grid that somebody names?
//
//   fault_of<across_rule<layout<experts, split<expert, owner>>>, X>   -> no_fault
//   landing_fault<layout<experts>, X, grid<pod>>::type           -> meshes_differ<experts, pod>
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/op/parts/goal.hpp"

namespace dimesh::detail {

/// The result has layout L, of any mesh, cut down to what concerns the operand's dims. Addends are
/// summed on their mesh: they are those of its axes.
template <class L> struct across_rule : keeps_dims {
  using goal = L;
  using axes = typename L::mesh::axes;
  static constexpr outcome of(rule_operands x, dim_list out) {
    outcome o = target<L>::of(out);
    if (!o.ok()) {
      o.is_of_goal = true;
      return o;
    }
    const unsigned sums = x[0].layout.mask(use::partial), held = all_partial(x[0].layout) & ~sums,
                   made = all_partial(o.layout);
    if (held != 0) return blamed_axis(fault_code::partial_operand, first_axis(held));
    if (sums != 0 && !is_summable(x[0].kind))
      return blamed_place(fault_code::element_not_summable, 0);
    if (made != 0) return blamed_place(fault_code::axis_not_partial, first_axis(made));
    if (const dim_facts* const d = haloed_dim(x[0]); d != nullptr)
      return blamed(fault_code::dim_has_halo, d);
    for (int d = 0; d < out.size; ++d)
      if (o.layout.halo[d].any()) return blamed(fault_code::dim_has_halo, out[d]);
    return o;
  }
};

/// The mesh of a grid, of sizes, or of a tensor.
template <class Where> struct landing_mesh : mesh_of_where<Where> {};
template <Tensor Y> struct landing_mesh<Y> {
  using type = typename spec_of<Y>::mesh;
};
/// What is no grid; the grid of another mesh than the layout's; or sizes without ranks for data.
template <class L, class X, class Where> struct landing_fault {
  static constexpr auto find() {
    if constexpr (is_poison<X>) {
      return tag<no_fault>{};
    } else if constexpr (requires { typename landing_mesh<Where>::type; }) {
      using mesh = typename landing_mesh<Where>::type;
      constexpr bool has_ranks = !std::is_same_v<Where, mesh_sizes<mesh>> && !is_shaped<Where>;
      if constexpr (!std::is_same_v<typename L::mesh, mesh>)
        return tag<meshes_differ<typename L::mesh, mesh>>{};
      else if constexpr (!is_shaped<X> && !has_ranks)
        return tag<wrong_arguments<Where>>{};
      else
        return tag<no_fault>{};
    } else {
      return tag<wrong_arguments<Where>>{};
    }
  }
  using type = typename decltype(find())::type;
};

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// May a tensor go over to a layout that somebody names? Whether it can have that layout at all, and
// whether moves and sums lead there: the common rule of relayout and exchange. The layout is one
// that a type says, or one that only the run knows.
//
//   fault_of<goal_rule<layout<pod, split<batch, rows>>, true>, X>   -> no_fault
//   under_rules here(rules);   target_of<layout<pod, at_run_time>>(dims)   -> what these rules say
#pragma once

#include "dimesh/core/under_rules.hpp"
#include "dimesh/layout/route.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

constexpr unsigned all_partial(const table& t) {
  return t.mask(use::partial) | t.mask(use::partial_max) | t.mask(use::partial_min);
}
/// Sums: addends may be summed on the way.
constexpr outcome goal_rule_of(const tensor_facts& x, const table& to, bool sums) {
  const table& from = x.layout;
  if (sums && from == to) return allowed(to);
  const unsigned moved = moved_axes(from, to);
  const unsigned extreme = from.mask(use::partial_max) | from.mask(use::partial_min) |
                           to.mask(use::partial_max) | to.mask(use::partial_min);
  const unsigned stuck = moved & (sums ? extreme : all_partial(from));
  if (stuck != 0) return blamed_axis(fault_code::partial_operand, first_axis(stuck));
  if ((moved & from.mask(use::partial)) != 0 && !is_summable(x.kind))
    return blamed_place(fault_code::element_not_summable, 0);
  const unsigned away = moved & (from.mask(use::placed) | to.mask(use::placed));
  if (!sums && away != 0) return blamed_axis(fault_code::tensor_is_placed, first_axis(away));
  const unsigned made = moved & all_partial(to);
  if (made != 0) return blamed_axis(fault_code::axis_not_partial, first_axis(made));
  if (const dim_facts* const d = haloed_dim(x); d != nullptr)
    return blamed(fault_code::dim_has_halo, d);
  for (int d = 0; d < x.rank; ++d)
    if (to.halo[d].any()) return blamed(fault_code::dim_has_halo, x.dim[d]);
  return allowed(to);
}
/// The result has layout L, cut down to what concerns the operand's dims.
template <class L, bool Sums> struct goal_rule : keeps_dims {
  using goal = L;
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (x[0].mesh != type_number<typename L::mesh>)
      return blamed_place(fault_code::meshes_differ, 0);
    outcome o = target<L>::of(out);
    if (o.ok()) return goal_rule_of(x[0], o.layout, Sums);
    o.is_of_goal = true;
    return o;
  }
};

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// May a tensor go over to a layout that somebody names? Whether it can have that layout at all, and
// whether moves and sums lead there: the common rule of relayout and exchange. The layout is one
// that a type says, or one that only the run knows.
//
//   fault_of<goal_rule<layout<pod, split<batch, rows>>, true>, X>   -> no_fault
//   under_rules here(rules);   target_of<layout<pod, at_run_time>>(dims)   -> what these rules say
#pragma once

#include "dimesh/layout/route.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// The rules that layout<M, at_run_time> stands for at present, in this thread; one for each mesh.
class under_rules {
 public:
  under_rules(std::uint64_t mesh, const rule_list_view& rules)
      : mesh_(mesh), rules_(rules), before_(innermost()) {
    innermost() = this;
  }
  under_rules(const under_rules&) = delete;
  under_rules& operator=(const under_rules&) = delete;
  ~under_rules() { innermost() = before_; }

  static const rule_list_view& of(std::uint64_t mesh) {
    for (const under_rules* u = innermost(); u != nullptr; u = u->before_)
      if (u->mesh_ == mesh) return u->rules_;
    (words() << "relayout: the layout is one that only the run knows, and the run does not say; "
                "keep an under_layout alive around the call")
        .raise();
  }

 private:
  static const under_rules*& innermost() {
    thread_local const under_rules* top = nullptr;
    return top;
  }
  std::uint64_t mesh_;
  rule_list_view rules_;
  const under_rules* before_;
};

constexpr outcome formed(const draft& d, dim_list dims) {
  if (d.found == fault_code::none) return allowed(d.t);
  outcome o = blamed(d.found, d.first < 0 ? nullptr : dims[d.first],
                     d.second < 0 ? nullptr : dims[d.second], d.axis);
  o.size = d.size;
  return o;
}

/// What a layout says of a tensor with some dims.
template <class L> struct target {
  static constexpr outcome of(dim_list dims) {
    for (int i = 0; i < rules_in<L>.size; ++i)
      for (int k = 0; k < rules_in<L>.at[i].axes; ++k)
        if (rules_in<L>.at[i].axis[k] < 0) return blamed_place(fault_code::axis_not_in_mesh, -1);
    return formed(draft_of(rules_in<L>, dims), dims);
  }
};
template <class M> struct target<layout<M, at_run_time>> {
  static outcome of(dim_list dims) {
    return formed(draft_of(under_rules::of(type_number<M>), dims), dims);
  }
};
/// Of a tensor that meets others: these dims are all that are there.
template <class M, class... Beside> struct target<layout<M, at_run_time_beside<Beside...>>> {
  static outcome of(dim_list dims) {
    constexpr dim_list all = dims_in<list<Beside...>>;
    outcome o = formed(draft_of(under_rules::of(type_number<M>), all), all);
    o.layout = table_over_dims(o.layout, all, dims);
    return o;
  }
};

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
  const unsigned away = moved & (from.mask(use::placed) | to.mask(use::placed));
  if (!sums && away != 0) return blamed_axis(fault_code::tensor_is_placed, first_axis(away));
  const unsigned made = moved & all_partial(to);
  if (made != 0) return blamed_axis(fault_code::axis_not_partial, first_axis(made));
  if (const dim_facts* const d = haloed_dim(x); d != nullptr)
    return blamed(fault_code::dim_has_halo, d);
  for (int d = 0; d < x.rank; ++d)
    if (to.halo[d] > 0) return blamed(fault_code::dim_has_halo, x.dim[d]);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a layout say of a tensor with some dims? Of one that a type says, what its rules say;
// of one that only the run knows, what the innermost rules say that this thread is under.
//
//   under_rules here(type_number<pod>, rules);
//   target<layout<pod, at_run_time>>::of(dims)   -> a table, or what is wrong with the rules
#pragma once

#include "dimesh/core/rule.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/layout/draft.hpp"

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
template <class M> struct target<layout<M, held_at_run_time>> : target<layout<M, at_run_time>> {};

}  // namespace dimesh::detail

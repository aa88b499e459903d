// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a typing rule? A constexpr function from what the operands' types say, and the
// operation's parameters, to the layout of the result, or to what is wrong and who is to blame.
// Types are made of its answer in rule_types.hpp; of probes, it is asked when the program runs.
//
//   struct sum_rule {                                      // of sum<hidden>, say
//     template <class... Dims> struct dims { using type = ...; };   // of the result, from those of
//                                                          // the operands: no layout takes part
//     static constexpr outcome of(rule_operands x, dim_list out);   // out: these dims as values
//     using named = list<hidden>;                          // optional: dims that the caller names
//     using axes = list<...>;                              // and axes likewise
//   };
//   sum_rule::of({&facts, 1}, out)   -> {table}, or {partial_operand, axis 0}
#pragma once

#include <bit>

#include "dimesh/core/facts.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh::detail {

/// What the types of the operands say.
struct rule_operands {
  const tensor_facts* const* at;
  int count;
  constexpr const tensor_facts& operator[](int k) const { return *at[k]; }
};

/// What a rule says: the layout of the result over its dims, or the first fault found and its
/// culprits.
struct outcome {
  table layout;
  fault_code found = fault_code::none;
  const dim_facts* dim = nullptr;
  const dim_facts* other = nullptr;
  int axis = -1;  // of the operands' mesh
  int place = -1;  // an operand, or an axis among those that the caller names
  int at = -1, other_at = -1;  // coordinates of the axis
  index_t size = 0;  // ranks along the axes that do not divide an extent
  bool is_of_goal = false;  // the layout that the caller names cannot be

  constexpr bool ok() const { return found == fault_code::none; }
};
constexpr outcome allowed(const table& t) {
  outcome o;
  o.layout = t;
  return o;
}
constexpr outcome blamed(fault_code f, const dim_facts* d, int axis = -1) {
  outcome o;
  o.found = f, o.dim = d, o.axis = axis;
  return o;
}
constexpr outcome blamed(fault_code f, const dim_facts* d, const dim_facts* e, int axis = -1) {
  outcome o = blamed(f, d, axis);
  o.other = e;
  return o;
}
constexpr outcome blamed_axis(fault_code f, int axis) { return blamed(f, nullptr, axis); }
/// Operands live at these coordinates of an axis.
constexpr outcome blamed_at(fault_code f, int axis, int at, int other_at) {
  outcome o = blamed_axis(f, axis);
  o.at = at, o.other_at = other_at;
  return o;
}
constexpr outcome blamed_place(fault_code f, int place) {
  outcome o;
  o.found = f, o.place = place;
  return o;
}

// ---- what rules have in common ------------------------------------------------------------------

/// The first operand on another mesh than the first one, -1 if none is.
constexpr int foreign_operand(rule_operands x) {
  for (int k = 1; k < x.count; ++k)
    if (x[k].mesh != x[0].mesh) return k;
  return -1;
}
/// The first dim whose blocks carry halos, null if none do.
constexpr const dim_facts* haloed_dim(const tensor_facts& x) {
  const int d = x.layout.first_haloed();
  return d < 0 ? nullptr : x.dim[d];
}
constexpr int first_axis(unsigned axes) { return axes == 0 ? -1 : std::countr_zero(axes); }

/// Rules whose results have the dims of their first operand.
struct keeps_dims {
  template <class First, class...> struct dims {
    using type = First;
  };
};
/// A rule that takes no complex elements: what orders them, or is not defined for them.
template <class Rule> struct of_real_elements : Rule {
  static constexpr bool of_reals = true;
};
/// The result is like the first operand.
struct like_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) { return allowed(x[0].layout); }
};

}  // namespace dimesh::detail

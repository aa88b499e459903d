// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a dim get another name? Locally and for free: the elements stay where they are.
//
//   rename<batch, rows_of_a>(tensor<float, L, batch, hidden>)  -> the same with dim rows_of_a
#pragma once

#include "dimesh/detail/names.hpp"
#include "dimesh/op/parts/apply_rule.hpp"

namespace dimesh {

namespace detail {

template <class From, class To, class Dims> struct renamed_dims;
template <class From, class To, class... D> struct renamed_dims<From, To, list<D...>> {
  using type = list<std::conditional_t<std::is_same_v<D, From>, To, D>...>;
};

/// What splits From then splits To.
template <class From, class To> struct rename_rule {
  using named = list<From, To>;
  template <class First> struct dims : renamed_dims<From, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list) {
    constexpr auto &from = facts_of_dim<From>, &to = facts_of_dim<To>;
    if (x[0].place_of(&from) < 0) return blamed(fault_code::dim_not_in_tensor, &from);
    if (x[0].place_of(&to) >= 0) return blamed(fault_code::dim_already_in_tensor, &to);
    if (from.extent != dynamic && to.extent != dynamic && from.extent != to.extent)
      return blamed(fault_code::extents_differ, &from, &to);
    return allowed(x[0].layout);
  }
};

struct rename_op {
  const dim_facts* to;
  index_t extent;

  static constexpr bool takes_complex = true;
  static constexpr int aliases = 0;
  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, to) ? extent : dynamic;
  }
  constexpr void cost(tally&, results, operands) const {}
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to_x) const {
    if (to_x.ybar.record == nullptr) return to_x.pass(0, to_x.ybar);
    // Who has recorded the cotangent knows it by its dims: another name is an operation there, too.
    const tensor_facts& x = *to_x.x(0).facts;
    int d = 0;
    while (same_dim(x.dim[d], to_x.ybar.facts->dim[d])) ++d;
    to_x.give(0, rename_op{x.dim[d], to_x.x(0).extent(d)}, to_x.ybar);
  }
};

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(rename_op, 0);
DIMESH_INSTANCE(rename_op, 1);

/// x, whose cuts of From, if there are any, serve To, too.
template <class From, class To, class X> constexpr X with_cuts_called(const X& x) {
  X y(x);
  tensor_core& core = core_of(y);
  const cut_record* const had = cuts_of_dim(core.cuts.first(), &facts_of_dim<From>);
  if (had != nullptr) {
    cut_list all;
    all.add(&facts_of_dim<To>, had->begin);
    all.add_all(core.cuts);
    core.cuts = all;
  }
  return y;
}

}  // namespace detail

/// The same elements with dim From called To. Shapes: [.., From, ..] -> [.., To, ..]; no cost.
/// Throws dimesh::error when a static extent of To is not the run-time extent of From.
template <Dim From, Dim To, Operand X> constexpr auto rename(const X& x) {
  using rule = detail::rename_rule<From, To>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "rename: the tensor lacks the dim to be renamed; name one of its dims");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "rename: the tensor has a dim of the new name already; choose another name");
  static_assert(ok<only<fault, extents_differ>>,
                "rename: the extents of the two dims differ; a new name must have the old extent");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    if (is_static_dim<To> && static_extent<To> != x.template extent<From>() &&
        !detail::has_assumed_extents(x))
      throw error("rename: dim " + detail::quoted<From>() + " has " +
                  std::to_string(x.template extent<From>()) + " elements, " + detail::quoted<To>() +
                  " has " + std::to_string(static_extent<To>));
    const detail::rename_op op{&detail::facts_of_dim<To>, x.template extent<From>()};
    if (detail::core_of(x).cuts) [[unlikely]]
      return detail::apply_rule<rule, value_of<X>>(op, detail::with_cuts_called<From, To>(x));
    return detail::apply_rule<rule, value_of<X>>(op, x);
  }
}

}  // namespace dimesh

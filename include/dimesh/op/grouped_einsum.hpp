// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does each group of rows get a matrix of its own? The rows lie group by group, as many of each
// as `lengths` say, and every group is multiplied with its slice of the weights: what experts
// without a capacity need. One matrix product per group, on the rows where they lie; groups may be
// empty.
//
//   grouped_einsum<token, expert, token, hidden>(x[token, model], w[expert, model, hidden],
//                                                lengths[expert])            -> [token, hidden]
//   // x[token/rows, ..] with w[expert, ..]       each rank: the groups that reach into its rows
//   // x[token/rows, ..] with w[expert/rows, ..]  the groups of a rank are all of its rows
//
// Where the groups are split, the blocks of rows must end where those of groups do, which the run
// checks. The gradient of weights that all ranks hold is partial along the axes of the rows.
#pragma once

#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/parts/einsum_op.hpp"
#include "dimesh/op/parts/group_runs.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

/// Is dim d of x split as dim e of y is? Blames the first axis that splits one of them alone.
constexpr outcome split_alike(const tensor_facts& x, int d, const tensor_facts& y, int e) {
  const table &s = x.layout, &t = y.layout;
  for (int a = 0; a < s.axes; ++a) {
    const bool here = s.axis[a].what == use::split && s.axis[a].dim == d;
    const bool there = t.axis[a].what == use::split && t.axis[a].dim == e;
    if (here != there)
      return blamed(fault_code::dim_split_in_one_operand_only, here ? x.dim[d] : y.dim[e], a);
    if (here && s.axis[a].level != t.axis[a].level)
      return blamed(fault_code::dim_split_differently, x.dim[d]);
  }
  return allowed(s);
}

/// x[rows, ...], w[group, ...], lengths[group]: apart from the groups, a product of x and w.
constexpr outcome grouped_rule_of(rule_operands x, const dim_facts* rows, const dim_facts* group,
                                  dim_list out) {
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  const int r = x[0].place_of(rows), g = x[1].place_of(group), l = x[2].place_of(group);
  if (r < 0) return blamed(fault_code::dim_not_in_tensor, rows);
  if (g < 0 || l < 0) return blamed(fault_code::dim_not_in_tensor, group);
  if (x[0].place_of(group) >= 0) return blamed(fault_code::dim_already_in_tensor, group);
  if (x[1].place_of(rows) >= 0) return blamed(fault_code::dim_already_in_tensor, rows);
  for (int d = 0; d < x[2].rank; ++d)
    if (d != l) return blamed(fault_code::dim_in_one_input_only, x[2].dim[d]);
  if (const int a = x[2].layout.first_partial(); a >= 0)
    return blamed_axis(fault_code::partial_operand, a);
  for (const auto& [who, d] : {std::pair{0, r}, std::pair{1, g}, std::pair{2, l}})
    if (x[who].layout.halo[d].any()) return blamed(fault_code::dim_has_halo, x[who].dim[d]);
  outcome o = split_alike(x[1], g, x[2], l);
  if (o.ok() && x[1].layout.uneven[g] != x[2].layout.uneven[l])
    o = blamed(fault_code::dim_split_differently, group);
  if (o.ok() && x[1].layout.split_count(g) > 0) o = split_alike(x[1], g, x[0], r);
  if (!o.ok()) return o;
  const facts_of_own_dims weights = facts_without_dim(x[1], group);
  const facts_of_own_dims lengths = facts_without_dim(x[2], group);
  const tensor_facts* const all[] = {&x[0], &weights, &lengths};
  const rule_operands two{all, 2}, three{all, 3};
  o = einsum_rule_of(two, out);
  return o.ok() ? product_rule(three, dim_union(three).all(), out) : o;
}
template <class Rows, class Group, class Out> struct grouped_rule {
  using named = typename concat_impl<list<>, Out, list<Rows, Group>>::type;
  template <class...> struct dims {
    using type = Out;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    return grouped_rule_of(x, &facts_of_dim<Rows>, &facts_of_dim<Group>, out);
  }
};

/// Elements T, lengths I in the third operand. Of the result and the first two operands, two have
/// the rows and one the groups: the transposes are of this kind again.
template <class T, class I> struct grouped_einsum_op {
  const dim_facts *rows, *group;

  constexpr void cost(tally& t, results y, operands x) const {
    const tensor_core* const all[] = {&y[0], &x[0], &x[1]};
    index_t turns = 1;
    bool sums = false;
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < all[k]->rank(); ++d) {
        const dim_facts* const dim = all[k]->facts->dim[d];
        bool seen = same_dim(dim, group);
        for (int i = 0; i < k; ++i) seen = seen || all[i]->facts->place_of(dim) >= 0;
        if (seen) continue;
        turns *= all[k]->local(d);
        sums = sums || k > 0;
      }
    t.compute((sums ? 2 : 1) * turns, y[0].bytes() + bytes_of(x));
  }
  static constexpr bool puts_off = true;
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 2 || (k == 0 && (wanted & 2u)) || (k == 1 && (wanted & 1u));
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, *this, to.ybar, to.x(1), to.x(2));
    to.give(1, *this, to.ybar, to.x(0), to.x(2));
  }

  void fill(results y, operands x) const {
    const tensor_core &c = y[0], &a = x[0], &b = x[1];
    loop_dims labels;  // those of the result, then those that are summed; groups come one by one
    for (const tensor_core* t : {&c, &a, &b})
      for (int d = 0; d < t->rank(); ++d)
        if (!same_dim(t->facts->dim[d], group) &&
            !dim_list{labels.dim, labels.count}.has(t->facts->dim[d]))
          labels.add(*t, d);
    local::contraction_of_length loops(contraction_over(labels, c, a, b),
                                       dim_list{labels.dim, labels.count}.place_of(rows));
    const group_steps in_c(c, rows, group), in_a(a, rows, group), in_b(b, rows, group);
    const tensor_core& with_rows = a.facts->place_of(rows) >= 0 ? a : b;
    for_each_group(
        x[2], x[2].data<const I>(), with_rows, rows, [&](index_t g, index_t begin, index_t length) {
          T* const to = c.data<T>() + in_c.at(g, begin);
          if (length == 0 && in_c.group == 0) return;
          if (length == 0 && same_dim(c.facts->dim[0], group))  // faster than a product of nothing
            return zero_bytes(to, in_c.group * index_t{sizeof(T)});
          product(loops.of(length), a.data<const T>() + in_a.at(g, begin),
                  b.data<const T>() + in_b.at(g, begin), to);
        });
  }

 private:
  static void product(const local::contraction& loops, const T* a, const T* b, T* c) {
    if constexpr (is_storage_only<T>)
      local::contract_bfloat16(loops, a, b, c);
    else
      local::contract(loops, a, b, c);
  }
};

}  // namespace detail

/// Each row of x times the weights of its group. Shapes: x[.., Rows, ..], w[.., Group, ..] and
/// whole numbers lengths[Group] -> [Out...], which has Rows and lacks Group; every other dim stands
/// in Out or in both operands, and is summed where Out lacks it. The first lengths[0] rows are
/// those of group 0, the next ones those of group 1, and so on to the last row. Local. Groups are
/// whole, or split as the rows are; a summed dim that is split leaves the result partial. Gradients
/// for x and w. Throws dimesh::error where a length is negative, or where the lengths do not add up
/// to the rows (of this rank, where groups are split).
template <Dim Rows, Dim Group, Dim... Out, Operand X, Operand W, Operand L>
constexpr auto grouped_einsum(const X& x, const W& w, const L& lengths) {
  using rule = detail::grouped_rule<Rows, Group, detail::list<Out...>>;
  using fault = detail::fault_of<rule, X, W, L>;
  static_assert(ok<only<fault, meshes_differ>>,
                "grouped_einsum: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "grouped_einsum: the operands live on different ranks of this axis; place<axis, k> "
                "the one that all of them hold (free), or send<axis, k> the one elsewhere");
  static_assert(ok<only<fault, dim_not_in_tensor, dim_already_in_tensor>>,
                "grouped_einsum: the first operand has the dim of rows, the other two that of "
                "groups, and none the other's; pass grouped_einsum<rows, group, ...>(x, w, "
                "lengths)");
  static_assert(ok<only<fault, dim_repeated, output_dim_not_in_any_input, dim_in_one_input_only>>,
                "grouped_einsum: the result has the rows and not the groups, and every other dim "
                "stands in it or in two operands; name such dims");
  static_assert(ok<only<fault, elements_differ>>,
                "grouped_einsum: the operands have different element types; cast one of them");
  static_assert(ok<only<fault, dim_has_halo>>,
                "grouped_einsum: blocks of a dim carry a halo; take the tensor without it");
  static_assert(
      ok<only<fault, dims_share_mesh_axis, dim_split_in_one_operand_only, dim_split_differently>>,
      "grouped_einsum: groups are whole, or split over the axes of the rows, in weights and "
      "lengths alike, and other dims in all operands alike; relayout one of them");
  static_assert(ok<only<fault, both_operands_partial, partial_operand, partial_meets_split>>,
                "grouped_einsum: an operand is yet to be summed along an axis where another one is "
                "not whole, or the lengths are; complete it first");
  static_assert(detail::holds_places<L>,
                "grouped_einsum: lengths are whole numbers; cast the tensor to an integer type "
                "first");
  if constexpr (!ok<fault> || is_poison<X> || is_poison<W> || is_poison<L>)
    return poison{};
  else if constexpr (!detail::holds_places<L>)
    return poison{};
  else
    return detail::apply_rule<rule, value_of<X>>(
        detail::grouped_einsum_op<value_of<X>, value_of<L>>{&detail::facts_of_dim<Rows>,
                                                            &detail::facts_of_dim<Group>},
        x, w, lengths);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using grouped_einsum_call = call_taking<more_dims, 3, a_tensor, a_tensor, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::grouped_einsum_call, detail::list<N...>, A...>
constexpr poison grouped_einsum(const A&...) {
  static_assert(ok<detail::misuse<detail::grouped_einsum_call, detail::list<N...>, A...>>,
                "grouped_einsum: dims of rows, of groups and of the result stand in the angle "
                "brackets, two tensors and lengths in the parentheses");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison grouped_einsum(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "grouped_einsum: dims of rows, of groups and of the result stand in the angle "
                "brackets, two tensors and lengths in the parentheses");
  return {};
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the operations that change a layout have in common? Each turns the layout of its operand
// into another one for the same dims. Here: from a rule on tables to the spec of the result, which
// axes take part, and what is wrong with the dims and axes a caller names.
//
//   relaid_spec<spec<float, layout<pod, split<batch, rows>>, batch>, without_axis<0>>
//     -> spec<float, layout<pod>, batch>
#pragma once

#include "dimesh/layout/box.hpp"
#include "dimesh/layout/route.hpp"
#include "dimesh/op/parts/apply_rule.hpp"

namespace dimesh::detail {

/// The table as canonical layouts have it: `uneven` stays only where blocks may differ.
constexpr table tidied(table t, dim_list dims, const index_t* axis_sizes) {
  draft d;
  d.t = t;
  for (int i = 0; i < dims.size; ++i) d.t.uneven[i] = true;
  settle(d, dims, axis_sizes);
  for (int i = 0; i < dims.size; ++i) {
    t.uneven[i] = t.uneven[i] && d.t.uneven[i];
    t.ragged[i] = d.t.ragged[i];
  }
  return t;
}
constexpr table tidied(const tensor_facts& x, const table& t) {
  return tidied(t, x.dims(), x.axis_sizes());
}
/// x under table t, which its static extents must allow.
constexpr outcome relaid(const tensor_facts& x, const table& t) {
  draft d;
  d.t = t;
  settle(d, x.dims(), x.axis_sizes());
  if (d.found == fault_code::none) return allowed(tidied(x, t));
  outcome o = blamed(d.found, x.dim[d.first], d.axis);
  o.size = d.size;
  return o;
}

/// Rule::of(table) -> table is what an operation does to layouts.
template <class S, class Rule> struct relaid_table {
  static constexpr table result =
      tidied(Rule::of(S::table), dims_in<typename S::dims>, S::mesh::static_sizes.data());
};
/// The spec with the layout that a rule makes of its own.
template <class S, class Rule>
using relaid_spec = spec_of_table<typename S::value_type, typename S::mesh, typename S::dims,
                                  relaid_table<S, Rule>>;

/// The same elements and dims under layout L (canonical for them).
template <class S, class L>
using under = typename spec_of_list<typename S::value_type, typename S::dims, L>::type;

/// Axis a splits dim d at its minor end.
constexpr table with_split(table t, int a, int d, bool uneven, bool ragged = false) {
  if (t.axis[a].what == use::split) t.unsplit(a);
  if (t.split_count(d) == 0) t.ragged[d] = ragged;  // else the major axes say what blocks are
  t.set_split(a, d);
  t.uneven[d] = t.uneven[d] || uneven;
  return t;
}

/// The dim of uneven<D>, or D itself.
template <class D> using plain_dim = typename bare_dim<D>::type;

/// The sizes of the mesh axes, of a tensor with data or without.
template <class X> constexpr const index_t* sizes_of(const X& x) { return core_of(x).sizes(); }

/// Extents, mesh and coordinates of a tensor, with data or without.
constexpr placement placement_of(const tensor_core& x) {
  placement p;
  p.rank = x.rank();
  for (int d = 0; d < p.rank; ++d) p.extent[d] = x.extent(d);
  p.sizes = x.sizes();
  if (!x.is_shape)
    p.coords = x.grid->coords();
  else if (x.count != nullptr)
    p.coords = x.count->block_coords;
  p.cuts = {x.cuts.first(), x.facts->dim};
  return p;
}
template <Tensor X> constexpr placement placement_of(const X& x) {
  return placement_of(core_of(x));
}

/// The same layout, if no blocks carry halos.
constexpr outcome without_halos_only(const tensor_facts& x, const outcome& then) {
  const dim_facts* const haloed = haloed_dim(x);
  return haloed == nullptr ? then : blamed(fault_code::dim_has_halo, haloed);
}

/// Axis a, of use `from`, is to split dim d (or uneven d) at its minor end.
constexpr outcome scatter_rule_of(const tensor_facts& x, int a, use from, const dim_facts* dim,
                                  bool uneven, bool ragged) {
  if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
  const int d = x.place_of(dim);
  if (d < 0) return blamed(fault_code::dim_not_in_tensor, dim);
  if (x.layout.axis[a].what != from)
    return blamed_axis(
        from == use::partial ? fault_code::axis_not_partial : fault_code::axis_not_replicated, a);
  if (from == use::partial && !is_summable(x.kind))
    return blamed_place(fault_code::element_not_summable, 0);
  return without_halos_only(x, relaid(x, with_split(x.layout, a, d, uneven, ragged)));
}
/// D may be written uneven<D>.
template <class D, class A, use From> struct scatter_rule : keeps_dims {
  using named = list<plain_dim<D>>;
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return scatter_rule_of(x[0], x[0].axis_of(type_number<A>), From, &facts_of_dim<plain_dim<D>>,
                           bare_dim<D>::uneven, bare_dim<D>::ragged);
  }
};

/// Blocks carry no halos along some dims; the result has halos of these widths along them, one for
/// each (null: none).
constexpr outcome halo_rule_of(const tensor_facts& x, dim_list along, const halo_widths* widths) {
  if (const int i = along.repeated(); i >= 0) return blamed(fault_code::dim_repeated, along[i]);
  outcome o = allowed(x.layout);
  for (int i = 0; i < along.size; ++i) {
    const int d = x.place_of(along[i]);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, along[i]);
    if (x.layout.halo[d].any()) return blamed(fault_code::dim_has_halo, along[i]);
    if (widths != nullptr) o.layout.halo[d] = widths[i];
  }
  return o;
}
/// Blocks of one dim are gathered over the axes in the mask.
constexpr outcome gather_rule_of(const tensor_facts& x, unsigned axes) {
  return without_halos_only(x, allowed(tidied(x, without_axes(x.layout, axes))));
}

/// Runs a one-operand operation whose result has the layout that a rule says, on the operand's own
/// memory where `nothing` is to be said to anybody.
template <class Rule, class Op, class X>
constexpr auto apply_or_share_by(const Op& op, const X& x, bool nothing) {
  if constexpr (is_probe<X> && (is_shaped<X> || is_tracked<X> || is_starting<X>))
    return apply_rule<Rule, value_of<X>>(op, x);
  else if constexpr (is_probe<X>)
    return apply_rule_in<Rule, value_of<X>>(op, nothing ? &core_of(x).memory : nullptr, x);
  else
    return apply_or_share<result_spec<Rule, value_of<X>, spec_of<X>>>(op, x, nothing);
}

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What comes of elements that are picked by number along a dim, or added up by number, where ranks
// split dims of either? As for a product; what splits the dim that is numbered leaves addends.
//
//   picked_rule<D, To>       x[.., D, ..], ids[.., To, ..]       -> [.., To, ..]
//   added_rule<From, D>      rows[.., From, ..], ids[.., From, ..] -> [.., D, ..]
#pragma once

#include "dimesh/op/map.hpp"
#include "dimesh/op/parts/strided.hpp"

namespace dimesh::detail {

/// One operand's dims, but for one, are the other's; a dim that one lacks, or null.
constexpr const dim_facts* dim_beside(const tensor_facts& x, const dim_facts* d,
                                      const tensor_facts& ids, const dim_facts* e) {
  for (int i = 0; i < x.rank; ++i)
    if (!same_dim(x.dim[i], d) && ids.place_of(x.dim[i]) < 0) return x.dim[i];
  for (int i = 0; i < ids.rank; ++i)
    if (!same_dim(ids.dim[i], e) && x.place_of(ids.dim[i]) < 0) return ids.dim[i];
  return nullptr;
}
/// Faults of operands whose numbers, along dim e of ids, stand for places of dim d of x.
constexpr outcome picked_rule_of(rule_operands x, const dim_facts* d, const dim_facts* e) {
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  if (x[0].place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
  if (x[1].place_of(e) < 0) return blamed(fault_code::dim_not_in_tensor, e);
  if (const dim_facts* lacking = dim_beside(x[0], d, x[1], e); lacking != nullptr)
    return blamed(fault_code::dim_not_in_tensor, lacking);
  for (int k = 0; k < 2; ++k)
    if (const dim_facts* h = haloed_dim(x[k]); h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
  if (const int a = x[1].layout.first_partial(); a >= 0)
    return blamed_axis(fault_code::partial_operand, a);
  if (const int a = x[0].layout.first_partial(false); a >= 0)
    return blamed_axis(fault_code::partial_operand, a);
  return allowed(x[0].layout);
}

/// Rule of x[.., d, ..] and ids[.., e, ..]: what splits d leaves addends.
constexpr outcome gather_rule_of(rule_operands x, const dim_facts* d, const dim_facts* e,
                                 dim_list out) {
  if (const outcome o = picked_rule_of(x, d, e); !o.ok()) return o;
  if (!same_dim(d, e) && x[0].place_of(e) >= 0) return blamed(fault_code::dim_already_in_tensor, e);
  const unsigned over = x[0].layout.axes_of(x[0].place_of(d));
  if (const unsigned both = over & x[1].layout.axes_of(x[1].place_of(e)); both != 0)
    return blamed(fault_code::dims_share_mesh_axis, d, e, first_axis(both));
  const facts_of_own_dims others = facts_without_dim(x[0], d);
  const tensor_facts* const operands[] = {&others, &x[1]};
  outcome o = join_operands(join_kind::product, {operands, 2}, out);
  for (int a = 0; a < o.layout.axes && o.ok(); ++a)
    if (over >> a & 1u) o.layout.axis[a] = {use::partial};
  return o;
}
template <class D, class To> struct picked_rule {
  using named = list<D, To>;
  template <class First, class> struct dims : replaced_dims<D, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    return gather_rule_of(x, &facts_of_dim<D>, &facts_of_dim<To>, out);
  }
};

/// Rule of rows[.., From, ..] and ids[.., From, ..]: what splits From leaves addends.
template <class From, class D> struct added_rule {
  using named = list<From, D>;
  template <class First, class> struct dims : replaced_dims<From, D, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr auto &from = facts_of_dim<From>, &d = facts_of_dim<D>;
    if (const outcome o = picked_rule_of(x, &from, &from); !o.ok()) return o;
    if (!std::is_same_v<From, D> && x[0].place_of(&d) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &d);
    outcome o = join_operands(join_kind::product, x, x[0].dims());
    if (!o.ok()) return o;
    const int at = x[0].place_of(&from);
    for (int a = 0; a < o.layout.axes; ++a)
      if (o.layout.axis[a].what == use::split && o.layout.axis[a].dim == at)
        o.layout.axis[a] = {use::partial};
    o.layout.uneven[at] = o.layout.ragged[at] = false;
    return allowed(table_over_dims(o.layout, x[0].dims(), out));
  }
};

}  // namespace dimesh::detail

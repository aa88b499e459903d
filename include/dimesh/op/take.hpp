// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do numbers become vectors? Each number takes a row of a table: an embedding. Local: where the
// table is split along the dim that numbers index, each rank looks up what it holds, and the rows
// it lacks are zeros of a sum yet to be made. The gradient of the table adds rows up again.
//
//   take<vocab>(table[vocab, model], ids[batch/rows])       -> [batch/rows, model]
//   take<vocab>(table[vocab/cols, model], ids[batch/rows])  -> the same, partial over cols
#pragma once

#include "dimesh/local/rounded_sums.hpp"
#include "dimesh/local/take.hpp"
#include "dimesh/op/one_hot.hpp"
#include "dimesh/op/parts/einsum_op.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/reduce.hpp"

namespace dimesh {

namespace detail {

/// The product's rule fits: ids and table never share a dim, and what splits D leaves addends.
constexpr outcome take_rule_of(rule_operands x, const dim_facts* d, dim_list out) {
  const tensor_facts &table = x[0], &ids = x[1];
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  const int at = table.place_of(d);
  if (at < 0) return blamed(fault_code::dim_not_in_tensor, d);
  if (table.layout.halo[at].any()) return blamed(fault_code::dim_has_halo, d);
  for (int i = 0; i < table.rank; ++i)
    if (ids.place_of(table.dim[i]) >= 0)
      return blamed(fault_code::dim_already_in_tensor, table.dim[i]);
  if (const int a = ids.layout.first_partial(); a >= 0)
    return blamed_axis(fault_code::partial_operand, a);
  return product_rule(x, dim_union(x).all(), out);
}
template <class D> struct take_rule {
  using named = list<D>;
  template <class Table, class Ids>
  struct dims : concat_impl<list<>, Ids, dims_without<Table, D>> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    return take_rule_of(x, &facts_of_dim<D>, out);
  }
};

/// tablebar[D, ...] from ybar[ids..., ...] and ids.
template <class T, class I> struct take_transpose_op {
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + 3 * x[0].bytes() + x[1].bytes());
  }
  void fill(results y, operands x) const {
    const index_t held = y[0].local(0), width = held == 0 ? 0 : y[0].elements() / held;
    const rounded_sums<T> sums(y[0].data<T>(), y[0].elements());
    local::add_rows(x[1].elements(), width, x[1].data<const I>(), y[0].own(0).offset, held,
                    x[0].data<const T>(), sums.data());
    sums.finish();
  }
};

/// table[D, ...] of T, ids[...] of I.
template <class T, class I> struct take_op {
  static constexpr bool takes_complex = true;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, 2 * y[0].bytes() + x[1].bytes());
  }
  static constexpr bool needs(int k, unsigned) { return k == 1; }
  void fill(results y, operands x) const {
    const tensor_core &table = x[0], &ids = x[1];
#ifdef DIMESH_CHECKED
    require_places<I>("take", ids, *table.facts->dim[0], table.extent(0));
#endif
    const index_t count = ids.elements(), width = count == 0 ? 0 : y[0].elements() / count;
    local::take_rows(count, width, ids.data<const I>(), table.own(0).offset, table.local(0),
                     table.data<const T>(), y[0].data<T>());
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, take_transpose_op<T, I>{}, to.ybar, to.x(1));
  }
};

/// D is first in the table.
template <class D, class X, class I> constexpr auto take_first(const X& table, const I& ids) {
  return apply_rule<take_rule<D>, value_of<X>>(take_op<value_of<X>, value_of<I>>{}, table, ids);
}

// Compiled once in dimesh::compiled.
DIMESH_INSTANCE(take_op<float, int>, 0);
DIMESH_INSTANCE(take_op<float, int>, 1);
DIMESH_INSTANCE(take_op<double, int>, 0);
DIMESH_INSTANCE(take_op<double, int>, 1);

}  // namespace detail

/// The rows of `table` along D that `ids` name; zeros where a number is no place of D. Shapes:
/// [.., D, ..] and whole numbers [I...] -> [I..., the other dims of the table]. Local; where D is
/// split, the result is partial along its axes. In checked builds numbers other than -1 that are no
/// place of D throw dimesh::error, which names the index.
template <Dim D, Operand X, Operand I> constexpr auto take(const X& table, const I& ids) {
  using fault = detail::fault_of<detail::take_rule<D>, X, I>;
  static_assert(ok<only<fault, meshes_differ>>,
                "take: table and places live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "take: the operands live on different ranks of this axis; place<axis, k> the one "
                "that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "take: the table lacks the dim whose places are taken; name one of its dims");
  static_assert(ok<only<fault, dim_has_halo>>,
                "take: blocks of the dim whose places are taken carry halos; take the table "
                "without them");
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "take: table and places share a dim; rename it in one of them");
  static_assert(ok<only<fault, partial_operand>>,
                "take: the places are a sum yet to be made; complete them first");
  static_assert(ok<only<fault, dims_share_mesh_axis>>,
                "take: one mesh axis splits a dim of the table and one of the places; gather one "
                "of them with whole<dim>");
  static_assert(ok<only<fault, partial_meets_split>>,
                "take: the table is a sum yet to be made along an axis that splits the places; "
                "complete it first");
  static_assert(!ok<fault> || detail::holds_places<I>,
                "take: places are whole numbers; cast the tensor to an integer type first");
  if constexpr (!ok<fault> || is_poison<X> || is_poison<I>)
    return poison{};
  else if constexpr (!detail::holds_places<I>)
    return poison{};
  else
    return detail::take_first<D>(
        detail::permuted<typename detail::concat_impl<
            detail::list<D>, detail::dims_without<typename spec_of<X>::dims, D>>::type>(table),
        ids);
}

}  // namespace dimesh

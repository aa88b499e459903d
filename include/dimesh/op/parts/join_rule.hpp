// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What layout has the result of operands that meet element by element, or in a product? The join of
// theirs, over all their dims. The common part of the rules of map, einsum, take and attention.
//
//   join_operands(join_kind::product, {x[batch/rows, hidden], b[hidden]}, {batch, hidden})
//     -> batch over rows
#pragma once

#include "dimesh/core/rule.hpp"
#include "dimesh/layout/join.hpp"

namespace dimesh::detail {

/// All dims of some tensors, each once, in the order of their first appearance.
struct dim_union {
  const dim_facts* at[max_dims]{};
  int size = 0;

  constexpr explicit dim_union(rule_operands x) {
    for (int k = 0; k < x.count; ++k)
      for (int d = 0; d < x[k].rank; ++d)
        if (!all().has(x[k].dim[d])) at[size++] = x[k].dim[d];
  }
  constexpr dim_list all() const { return {at, size}; }
};

template <int Room> constexpr joined join_some(join_kind kind, rule_operands x, dim_list all) {
  joinable in[Room];
  for (int k = 0; k < x.count; ++k) {
    in[k].t = table_over_dims(x[k].layout, x[k].dims(), all);
    for (int d = 0; d < x[k].rank; ++d) in[k].has[all.place_of(x[k].dim[d])] = true;
  }
  return join_tables(kind, in, x.count, all.size);
}

/// The join over `all`, which holds every dim of the operands.
constexpr outcome join_operands(join_kind kind, rule_operands x, dim_list all) {
  const joined j = x.count == 1   ? join_some<1>(kind, x, all)
                   : x.count == 2 ? join_some<2>(kind, x, all)
                   : x.count <= 4 ? join_some<4>(kind, x, all)
                                  : join_some<16>(kind, x, all);
  if (j.found == fault_code::none) return allowed(j.t);
  if (j.found == fault_code::placed_elsewhere || j.found == fault_code::placed_in_one_operand_only)
    return blamed_at(j.found, j.axis, j.first, j.second);
  return blamed(j.found, all[j.first], all[j.second], j.axis);
}

/// What a type says, less one dim, whose splits are forgotten.
constexpr facts_of_own_dims facts_without_dim(const tensor_facts& x, const dim_facts* gone) {
  facts_of_own_dims f = x;
  f.rank = 0;
  for (int d = 0; d < x.rank; ++d)
    if (!same_dim(x.dim[d], gone)) f.add_dim(x.dim[d]);
  f.layout = table_over_dims(x.layout, x.dims(), f.dims());
  return f;
}

/// The first dim of the other operands that x[k] lacks, as operand * max_dims + place; -1 if it has
/// them all. (No pointer: g++ 12 with -fsanitize compares none of these while compiling.)
constexpr int lacking_dim(rule_operands x, int k) {
  for (int i = 0; i < x.count; ++i)
    for (int d = 0; d < x[i].rank; ++d)
      if (!x[k].dims().has(x[i].dim[d])) return i * max_dims + d;
  return -1;
}
/// Of two operands one has all dims of the result: a sum or product by mistake would spread over
/// all pairs of their elements.
constexpr outcome one_has_all(rule_operands x, const outcome& joined) {
  const int first = lacking_dim(x, 0), second = lacking_dim(x, x.count - 1);
  if (first < 0 || second < 0) return joined;
  return blamed(fault_code::no_operand_has_all_dims, x[first / max_dims].dim[first % max_dims],
                x[second / max_dims].dim[second % max_dims]);
}

/// Operands of an elementwise operation, whose result has all their dims.
constexpr outcome join_rule(join_kind kind, rule_operands x, dim_list out) {
  if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
  return join_operands(kind, x, out);
}

}  // namespace dimesh::detail

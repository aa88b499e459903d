// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run where nothing is recorded, once its typing rule has been checked? It
// computes, or enters its cost on shapes. One function for all operations and types.
//
//   run_plain(bound<einsum_op<float>, 1>(op), results, operands, 2, false, nullptr)
#pragma once

#include "dimesh/core/results.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

/// Placed: extents and blocks of the results are there already. Slots: memory for them, or null.
constexpr void compute(const operation& op, results y, operands x, bool placed,
                       const storage* slots) {
  tally* const t = x[0].is_shape ? tally_of(x) : nullptr;
  for (int i = 0; i < y.count(); ++i) {
    if (!y.has(i)) continue;
    if (!placed) place(op, y[i], x);
    give_memory(op, y[i], x, slots != nullptr ? slots + i : nullptr, t);
  }
  if (x[0].is_shape) {
    if (t != nullptr) op.cost(*t, y, x);
  } else if (op.facts->aliases < 0) {
    op.fill(y, x);
  }
}

/// Addends of one operand and a value held whole in another: makes them all addends, from operand k
/// on. `at` lists the operands.
DIMESH_OUTLINE constexpr void compute_settled(const operation& op, results y,
                                              const tensor_core** at, int count, int k,
                                              unsigned mixed, bool placed, const storage* slots) {
  while (k < count && (at[k]->once & mixed) == 0) ++k;
  if (k == count) return compute(op, y, operands(at, count), placed, slots);
  tensor_core settled(*at[k]);
  settle(settled, settled.once & mixed);
  at[k] = &settled;
  compute_settled(op, y, at, count, k + 1, mixed, placed, slots);
}

DIMESH_OUTLINE constexpr void run_plain(const operation& op, results y, const tensor_core** at,
                                        int count, bool placed, const storage* slots) {
  const operands x(at, count);
  match_operands(op, x);
  unsigned any = 0, split = 0;
  int partials = 0;
  for (int k = 0; k < x.count(); ++k) {
    if (x[k].facts->partial == 0) continue;
    ++partials;
    any |= x[k].once;
    split |= x[k].facts->partial & ~x[k].once;
  }
  if (partials > 1 && (any & split) != 0)
    compute_settled(op, y, at, count, 0, any & split, placed, slots);
  else
    compute(op, y, x, placed, slots);
}

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does an operation leave on a tape that ran on recorded operands? A node: its parameters, and
// what its transpose reads. The way back is in core/pullback.hpp.
//
//   evaluate(bound<einsum_op<float>, 1>(op), results, operands, 2)
#pragma once

#include "dimesh/core/early_sum.hpp"
#include "dimesh/core/run_plain.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

/// An operation that was recorded: its parameters, and what its transpose reads.
class op_node final : public node_base, public cell {
 public:
  constexpr op_node(tape& t, const operation& op, results y, const operand* x, cell* const* to,
                    int count)
      : op_(op.keep(t)), x_(count), y_(y.count()) {
    on = &t;
    unsigned wanted = 0;
    for (int k = 0; k < count; ++k)
      if (to[k] != nullptr) {
        wanted |= 1u << k, ++to[k]->uses;
        to_input = leads_to_input = to_input || to[k]->to_input;
      }
    held** last = &operands_;
    for (int k = 0; k < count; ++k) {
      add(t, last, *x[k].x, op.needs(k, wanted), x[k].record);
      (*last)->to = to[k];
      last = &(*last)->next;
    }
    last = &results_;
    for (int i = 0; i < y.count(); ++i) {
      add(t, last, y[i], i > 0 || op.needs(-1, wanted), y[i].record);
      last = &(*last)->next;
    }
    // (Axes of another mesh are none of the operands'.)
    for (const held* h = op.facts->own_grid ? nullptr : operands_; h != nullptr; h = h->next)
      if (h->to != nullptr) summed |= summed_here(y[0], h->core) | summed_on(y[0], *h);
  }
  constexpr ~op_node() {}

  constexpr void backward() override;
  constexpr void drop() override {
    tape& t = *on;
    op_->drop();
    t.release(operands_);
    t.release(results_);
    drop_node(this);
  }

 private:
  friend class pullback_base;
  /// What the transpose does not read is kept without its elements.
  static constexpr void add(tape& t, held** to, const tensor_core& x, bool whole, cell* record) {
    held* const h = *to = t.hold();
    h->core = x;
    h->core.record = record;
    if (!whole) h->core.forget_data();
  }
  constexpr unsigned summed_anyway(unsigned axes, unsigned plain, int far) const;
  constexpr unsigned early_axes(const tensor_core& ybar) const;
  constexpr void backward_part();
  constexpr void transpose(const tensor_core& ybar);
  constexpr void count_down();

  const operation* op_;
  int x_, y_;
  held* operands_ = nullptr;
  held* results_ = nullptr;
};

/// Runs an operation on operands that may be recorded. The facts of the results are there.
DIMESH_OUTLINE constexpr void evaluate(const operation& op, results y, operand* x, int count,
                                       bool placed = false, const storage* slots = nullptr) {
  tape* t = nullptr;
  if (op.facts->has_transpose && y[0].facts->has_gradient) t = top_tape(op, x, count);
  if (t == nullptr) {
    const tensor_core* at[max_operands] = {};
    for (int k = 0; k < count; ++k) at[k] = x[k].x;
    return run_plain(op, y, at, count, placed, slots);
  }
  cell* to[max_operands] = {};
  operand outside[max_operands] = {};
  for (int k = 0; k < count; ++k) {
    if (x[k].record != nullptr && x[k].record->on == t) {
      to[k] = x[k].record;
      x[k].record = to[k]->outer;
    }
    outside[k] = x[k];
  }
  evaluate(op, y, outside, count, placed, slots);
  auto* const n = t->add<op_node>(*t, op, y, x, to, count);
  n->outer = y[0].record;
  n->sum = op.sum;
  y[0].record = n;
}

}  // namespace dimesh::detail

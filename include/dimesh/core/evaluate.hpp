// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run, once its typing rule has been checked? It computes, or enters its cost
// on shapes; and where an operand is recorded it leaves a node on the tape. One function for all
// operations and types.
//
//   evaluate(bound<einsum_op<float>, 1>(op), results, operands, 2)
#pragma once

#include "dimesh/core/results.hpp"

namespace dimesh::detail {

/// An operand, and what records it. These are apart, since an operand recorded on two tapes is a
/// plain one to the inner tape's operations.
struct operand {
  const tensor_core* x;
  cell* record;
};

// ---- the plain run ------------------------------------------------------------------------------

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
[[gnu::noinline]] constexpr void compute_settled(const operation& op, results y,
                                                 const tensor_core** at, int count, int k,
                                                 unsigned mixed, bool placed,
                                                 const storage* slots) {
  while (k < count && (at[k]->once & mixed) == 0) ++k;
  if (k == count) return compute(op, y, operands(at, count), placed, slots);
  tensor_core settled(*at[k]);
  settle(settled, settled.once & mixed);
  at[k] = &settled;
  compute_settled(op, y, at, count, k + 1, mixed, placed, slots);
}

constexpr void run_plain(const operation& op, results y, const tensor_core** at, int count,
                         bool placed, const storage* slots) {
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

// ---- the recorded run ---------------------------------------------------------------------------

[[noreturn]] inline void refuse_tapes(std::string_view call) {
  (words() << call
           << ": the operands are recorded by two value_and_grad (or vjp) of which neither is "
              "inside the other; pass a tensor that is recorded outside as a parameter, or use "
              "stop_gradient")
      .raise();
}

/// The innermost tape that an operand is recorded on; null if none is.
constexpr tape* top_tape(const operation& op, const operand* x, int count) {
  tape* top = nullptr;
  for (int k = 0; k < count; ++k) {
    if (x[k].record == nullptr || x[k].record->on == top) continue;
    tape* const t = x[k].record->on;
    if (top != nullptr && top->level == t->level) refuse_tapes(op.facts->name);
    if (top == nullptr || top->level < t->level) top = t;
  }
  return top;
}

/// An operation that was recorded: its parameters, and what its transpose reads. A template, so
/// that its way back can stand with what that needs (pullback.hpp).
template <class Tape> class op_node_on final : public node_base, public cell {
 public:
  constexpr op_node_on(Tape& t, const operation& op, results y, const operand* x, cell* const* to,
                       int count)
      : op_(op.keep(t)), x_(count), y_(y.count()) {
    on = &t;
    unsigned wanted = 0;
    for (int k = 0; k < count; ++k)
      if (to[k] != nullptr) wanted |= 1u << k, ++to[k]->uses;
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
  }
  constexpr ~op_node_on() {}

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
  const operation* op_;
  int x_, y_;
  held* operands_ = nullptr;
  held* results_ = nullptr;
};

/// Runs an operation on operands that may be recorded. The facts of the results are there.
template <class Tape = tape>
[[gnu::noinline]] constexpr void evaluate(const operation& op, results y, operand* x, int count,
                                          bool placed = false, const storage* slots = nullptr) {
  Tape* t = nullptr;
  if (op.facts->has_transpose && y[0].facts->is_real) t = top_tape(op, x, count);
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
  evaluate<Tape>(op, y, outside, count, placed, slots);
  auto* const n = t->template add<op_node_on<Tape>>(*t, op, y, x, to, count);
  n->outer = y[0].record;
  n->sum = op.sum;
  y[0].record = n;
}

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run that may be recorded, and what does its transpose work with? `evaluate`
// leaves a node on the tape; one function for all operations and types. On the way back a transpose
// has the cotangent of the result, the operands and results of the forward run, and a way to say
// what the operands' cotangents are: mostly, the result of another operation.
//
//   evaluate(bound<einsum_op<float>, 1>(op), results, operands, 2)
//   constexpr void transpose(const auto& to) const {
//     to.give(0, scale_op{by}, to.ybar);   // the cotangent of operand 0 is scale_op{by} of ybar
//   }
#pragma once

#include "dimesh/core/run_plain.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

// ---- the recorded run ---------------------------------------------------------------------------

/// An operand, and what records it. These are apart, since an operand recorded on two tapes is a
/// plain one to the inner tape's operations.
struct operand {
  const tensor_core* x;
  cell* record;
};

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

/// An operation that was recorded: its parameters, and what its transpose reads.
class op_node final : public node_base, public cell {
 public:
  constexpr op_node(tape& t, const operation& op, results y, const operand* x, cell* const* to,
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
  const operation* op_;
  int x_, y_;
  held* operands_ = nullptr;
  held* results_ = nullptr;
};

/// Runs an operation on operands that may be recorded. The facts of the results are there.
DIMESH_OUTLINE constexpr void evaluate(const operation& op, results y, operand* x, int count,
                                       bool placed = false, const storage* slots = nullptr) {
  tape* t = nullptr;
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
  evaluate(op, y, outside, count, placed, slots);
  auto* const n = t->add<op_node>(*t, op, y, x, to, count);
  n->outer = y[0].record;
  n->sum = op.sum;
  y[0].record = n;
}

// ---- the way back -------------------------------------------------------------------------------

/// A cotangent that is to be recorded itself comes from an operation that cannot be.
constexpr void refuse_recorded(const operation& op, const operand* x, int count) {
  for (int k = 0; k < count; ++k)
    if (x[k].record != nullptr)
      (words() << op.facts->name
               << ": gradients of gradients do not pass through this operation: its transpose has "
                  "no transpose of its own; compose it of others, or use stop_gradient")
          .raise();
}

/// What a transpose is given: the result's cotangent, the operands and results, and where the
/// cotangents of the operands go.
class pullback_base {
 public:
  const tensor_core& ybar;

  constexpr pullback_base(tape& t, const tensor_core& bar, const operands& x, const operands& y,
                          held* to)
      : ybar(bar), tape_(&t), x_(x), y_(y), to_(to) {}

  /// Operand k; its elements are there if the operation said that it needs them.
  constexpr const tensor_core& x(int k) const { return x_[k]; }
  /// Result i likewise.
  constexpr const tensor_core& y(int i = 0) const { return y_[i]; }
  constexpr int count() const { return x_.count(); }
  constexpr bool wants(int k) const { return at(k)->to != nullptr; }

  /// Has this tensor the form of the cotangent of operand k?
  constexpr bool is_like(int k, const tensor_core& x) const {
    const tensor_facts& bar = *x_[k].facts->dual;
    return (!std::is_constant_evaluated() && x.facts == &bar) ||
           (x.facts->kind == bar.kind && x.facts->same_dims(bar) && x.facts->layout == bar.layout);
  }
  /// The cotangent of operand k is this tensor of the right form.
  constexpr void pass(int k, tensor_core bar) const {
    if (!wants(k)) return;
    bar.facts = x_[k].facts->dual;
    at(k)->to->add(std::move(bar));
  }

 protected:
  constexpr held* at(int k) const {
    held* h = to_;
    while (k-- > 0) h = h->next;
    return h;
  }
  constexpr held* fresh(int k) const {
    held* const h = tape_->hold();
    h->core.facts = x_[k].facts->dual;
    h->core.place_like(x_[k]);
    return h;
  }
  /// Results but the first are not recorded: where the operands are, a cotangent made of such a
  /// result would lack a term.
  constexpr void refuse_auxiliary(const operation& op, const operand* in, int count) const {
    bool recorded = false, used = false;
    for (int k = 0; k < x_.count(); ++k) recorded = recorded || x_[k].record != nullptr;
    for (int k = 0; k < count; ++k)
      for (int i = 1; i < y_.count(); ++i) used = used || in[k].x == &y_[i];
    if (recorded && used)
      (words()
       << op.facts->name
       << ": gradients of gradients do not pass through this operation: its transpose reads "
          "a result that is not recorded; compose it of others, or use stop_gradient")
          .raise();
  }
  DIMESH_OUTLINE constexpr void run(int k, const operation& op, operand* in, int count) const {
    if (!op.facts->has_transpose) refuse_recorded(op, in, count);
    if (y_.count() > 1) refuse_auxiliary(op, in, count);
    held* const bar = fresh(k);
    tensor_core* const y[] = {&bar->core};
    const storage slot = at(k)->to->offer();
    evaluate(op, results(y, 1), in, count, true, &slot);
    at(k)->to->add(std::move(bar->core));
    tape_->release(bar);
  }
  DIMESH_OUTLINE constexpr void run_all(const operation& op, operand* in, int count) const {
    refuse_recorded(op, in, count);
    tensor_core* y[max_operands] = {};
    storage slots[max_operands];
    held* bars[max_operands] = {};
    for (int k = 0; k < x_.count(); ++k) {
      if (!wants(k)) continue;
      bars[k] = fresh(k);
      y[k] = &bars[k]->core;
      slots[k] = at(k)->to->offer();
    }
    const tensor_core* from[2 * max_operands] = {};
    for (int i = 0; i < count; ++i) from[i] = in[i].x;
    run_plain(op, results(y, x_.count()), from, count, true, slots);
    for (int k = 0; k < x_.count(); ++k) {
      if (bars[k] == nullptr) continue;
      at(k)->to->add(std::move(bars[k]->core));
      tape_->release(bars[k]);
    }
  }

  tape* tape_;
  operands x_, y_;
  held* to_;
};

/// The same in a tape that stands in Depth - 1 others: what is given is recorded there.
template <int Depth> class pullback : public pullback_base {
  template <class Op> using bound_here = bound<Op, Depth - 1, transposes_by_mask<Op> ? 0u : ~0u>;

 public:
  constexpr explicit pullback(const pullback_base& to) : pullback_base(to) {}
  static constexpr int depth = Depth;

  /// The cotangent of operand k is op(in...).
  template <class Op, class... In> constexpr void give(int k, const Op& op, const In&... in) const {
    if (!wants(k)) return;
    operand all[] = {{&in, in.record}...};
    run(k, bound_here<Op>(op), all, sizeof...(In));
  }
  /// The cotangents of all wanted operands in one pass: op's results, of which unwanted ones are
  /// missing, from ybar, all operands, and `more`.
  template <class Op, class... More>
  constexpr void give_all(const Op& op, const More&... more) const {
    operand all[2 * max_operands] = {{&ybar, ybar.record}};
    int n = 1;
    for (int k = 0; k < count(); ++k) all[n++] = {&x_[k], x_[k].record};
    ((all[n++] = {&more, nullptr}), ...);
    run_all(bound<Op, 0>(op), all, n);
  }
  /// A tensor with these facts: op(in...), of which some are recorded, as a mask.
  template <unsigned Recorded = ~0u, class Op, class... In>
  constexpr tensor_core made(const tensor_facts* facts, const Op& op, const In&... in) const {
    tensor_core y(facts);
    tensor_core* const result[] = {&y};
    operand all[] = {{&in, in.record}...};
    if (y_.count() > 1) refuse_auxiliary(bound<Op, 0>(op), all, sizeof...(In));
    evaluate(bound<Op, Depth - 1, Recorded>(op), results(result, 1), all, sizeof...(In));
    return y;
  }
};

constexpr void op_node::backward() {
  if (filled) {
    const tensor_core ybar = std::move(bar);
    const tensor_core* x[max_operands] = {};
    const tensor_core* y[max_operands] = {};
    int k = 0;
    for (const held* h = operands_; h != nullptr; h = h->next) x[k++] = &h->core;
    k = 0;
    for (const held* h = results_; h != nullptr; h = h->next) y[k++] = &h->core;
    const pullback_base to(*on, ybar, operands(x, x_), operands(y, y_), operands_);
    op_->transpose(to);
  }
  for (held* h = operands_; h != nullptr; h = h->next)
    if (h->to != nullptr) --h->to->uses;
}

}  // namespace dimesh::detail

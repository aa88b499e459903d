// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run that may be recorded? `evaluate` leaves a node on the tape, which knows
// the way back: one function, and one class, for all operations and types. What a transpose is
// given has its types in core/pullback.hpp.
//
//   evaluate(bound<einsum_op<float>, 1>(op), results, operands, 2)
#pragma once

#include "dimesh/core/early_sum.hpp"
#include "dimesh/core/left_out.hpp"
#include "dimesh/core/run_plain.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

// ---- the recorded run ---------------------------------------------------------------------------

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
    if (op.facts->puts_off || !leads_to_input)
      for (int k = 0; k < count; ++k)
        if (to[k] != nullptr) to[k]->put_off = true;
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
  constexpr void let_go_for_the_rest();
  constexpr void transpose(const tensor_core& ybar);
  constexpr void count_down();

  const operation* op_;
  int x_, y_;
  unsigned late_ = 0;  // operands whose cotangents the second part gives
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
  DIMESH_OUTLINE constexpr void run(int k, const operation& op, operand* in, int count) const {
    if (!op.facts->has_transpose) refuse_recorded(op, in, count);
    if (y_.count() > 1) refuse_auxiliary(op, x_, y_, in, count);
    held_list bars(*tape_);
    held* const bar = bars.add(fresh(k));
    tensor_core* const y[] = {&bar->core};
    const storage slot = at(k)->to->offer();
    evaluate(op, results(y, 1), in, count, true, &slot);
    at(k)->to->add(std::move(bar->core));
  }
  constexpr void run_all(const operation& op, operand* in, int count) const;

  tape* tape_;
  operands x_, y_;
  held* to_;
};

/// Adds up what the ranks hold along some axes; the layout stays, the caller notes that the value
/// is to be counted once. It is the same value as before, so the transpose passes cotangents on.
/// Serves elements of all types and is recorded where cotangents are.
class addends_sum final : public operation {
 public:
  constexpr explicit addends_sum(unsigned axes) : operation(&says), axes_(axes) {}
  constexpr ~addends_sum() {}

  void fill(results y, operands x) const override { sum_addends(y[0], x[0], axes_); }
  constexpr void cost(tally& t, results, operands x) const override { count_sum(t, x[0], axes_); }
  constexpr bool needs(int, unsigned) const override { return false; }
  constexpr void transpose(const pullback_base& to) const override { to.pass(0, to.ybar); }
  constexpr index_t extent_of(const dim_facts*) const override { return dynamic; }
  constexpr const operation* keep(tape& t) const override { return t.make<addends_sum>(axes_); }
  constexpr void drop() const override {
    if (std::is_constant_evaluated())
      delete this;
    else
      this->~addends_sum();
  }

 private:
  static constexpr operation_facts says{"all_reduce", -1, true, false, false};
  unsigned axes_;
};

/// The cotangent with what its ranks hold along these axes added up, to be counted once.
constexpr void sum_early(tensor_core& ybar, unsigned axes) {
  tensor_core whole(ybar.facts);
  whole.place_like(ybar);
  tensor_core* const y[] = {&whole};
  operand x[] = {{&ybar, ybar.record}};
  evaluate(addends_sum(axes), results(y, 1), x, 1, true);
  whole.once = ybar.once | axes;
  ybar = std::move(whole);
}

constexpr void pullback_base::run_all(const operation& op, operand* in, int count) const {
  refuse_recorded(op, in, count);
  tensor_core* y[max_operands] = {};
  storage slots[max_operands];
  held_list bars(*tape_);
  for (int k = 0; k < x_.count(); ++k) {
    if (!wants(k)) continue;
    y[k] = &bars.add(fresh(k))->core;
    slots[k] = at(k)->to->offer();
  }
  const tensor_core* from[2 * max_operands] = {};
  for (int i = 0; i < count; ++i) from[i] = in[i].x;
  run_plain(op, results(y, x_.count()), from, count, true, slots);
  for (int k = 0; k < x_.count(); ++k)
    if (y[k] != nullptr) at(k)->to->add(std::move(*y[k]));
}

/// Of these axes, those along which the cotangent is summed further on whatever happens: by a
/// transpose here, or one that this one alone leads to, whose axes all replicate on the way there.
constexpr unsigned op_node::summed_anyway(unsigned axes, unsigned plain, int far) const {
  const tensor_core& y = results_->core;
  plain &= y.facts->dual->partial;
  unsigned found = 0;
  for (const held* h = operands_; h != nullptr; h = h->next) {
    if (h->to == nullptr) continue;
    const unsigned here = talking(summed_here(y, h->core), y.sizes());
    if ((here & ~plain) == 0) found |= axes & here;
    if (far > 0 && (axes & summed_on(y, *h)) != 0 && is_sole(*h->to))
      found |= static_cast<const op_node*>(h->to)->summed_anyway(axes, plain, far - 1);
  }
  return found;
}
/// The axes along which to sum the cotangent before it fans out.
constexpr unsigned op_node::early_axes(const tensor_core& ybar) const {
  unsigned axes = summed & talking(ybar.facts->partial & ~ybar.once, ybar.sizes());
  if (axes != 0) axes = summed_anyway(axes, ybar.facts->partial, furthest_sum);
  return axes != 0 && pays(axes, results_->core, operands_) ? axes : 0;
}

constexpr void op_node::backward() {
  if (leads_to_input && on->way != way_back::whole) return backward_part();
  if (filled) {
    tensor_core ybar = std::move(bar);
    if (const unsigned axes = early_axes(ybar); axes != 0) {
      const auto here = running::transpose(sink_of(ybar), op_->facts->name);
      sum_early(ybar, axes);
    }
    transpose(ybar);
  }
  count_down();
}
/// The cotangent stays for the second part, if there is one.
constexpr void op_node::backward_part() {
  const bool first = on->way == way_back::to_inputs;
  if (filled && first)
    if (const unsigned axes = early_axes(bar); axes != 0) {
      const auto here = running::transpose(sink_of(bar), op_->facts->name);
      sum_early(bar, axes);
    }
  if (first) late_ = late_ones(operands_);
  const left_out others(operands_, first ? late_ : ~late_);
  if (filled && others.stay > 0) transpose(bar);
  if (first && others.count == 0) bar = tensor_core(bar.facts);
  count_down();
  if (!first) return;
  others.put_back(operands_);
  let_go_for_the_rest();
}
/// Between the two parts a node keeps what the second one reads, and no more.
constexpr void op_node::let_go_for_the_rest() {
  int k = 0;
  for (held* h = operands_; h != nullptr; h = h->next, ++k)
    if (late_ == 0 || !op_->needs(k, late_)) h->core.forget_data();
  k = 0;
  for (held* h = results_; h != nullptr; h = h->next, ++k)
    if (late_ == 0 || (k == 0 && !op_->needs(-1, late_))) h->core.forget_data();
}
constexpr void op_node::transpose(const tensor_core& ybar) {
  const auto here = running::transpose(sink_of(ybar), op_->facts->name);
  const tensor_core* x[max_operands] = {};
  const tensor_core* y[max_operands] = {};
  int k = 0;
  for (const held* h = operands_; h != nullptr; h = h->next) x[k++] = &h->core;
  k = 0;
  for (const held* h = results_; h != nullptr; h = h->next) y[k++] = &h->core;
  const pullback_base to(*on, ybar, operands(x, x_), operands(y, y_), operands_);
  op_->transpose(to);
}
constexpr void op_node::count_down() {
  for (held* h = operands_; h != nullptr; h = h->next)
    if (h->to != nullptr) --h->to->uses;
}

}  // namespace dimesh::detail

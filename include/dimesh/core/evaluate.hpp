// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an operation run, once its typing rule has been checked? Results get their extents and
// memory from the operands; then it computes, or enters its cost on shapes; and where an operand is
// recorded it leaves a node on the tape. One function for all operations and types.
//
//   evaluate(bound(op), results, operands)
#pragma once

#include "dimesh/core/operation.hpp"

namespace dimesh::detail {

/// An operand, and what records it. These are apart, since an operand recorded on two tapes is a
/// plain one to the inner tape's operations.
struct operand {
  const tensor_core* x;
  cell* record;
};

// ---- results before they are filled -------------------------------------------------------------

[[noreturn]] inline void refuse_extents(const operation& op, const dim_facts* d, index_t here,
                                        index_t there) {
  (words() << op.name << ": the operands disagree on dim '" << d->name << "': " << here
           << " elements here, " << there << " there")
      .raise();
}
[[noreturn]] inline void refuse_grids(std::string_view call, bool undefined) {
  if (undefined)
    (words() << call
             << ": an operand is not defined: it was moved from, or never made on a grid; make it "
                "first")
        .raise();
  (words() << call
           << ": the operands live on two grids; make them on one, or bring them there with "
              "relayout")
      .raise();
}

/// Operands must live on one grid, and agree on extents that only the run knows.
constexpr void match_operands(const operation& op, operands x) {
  const tensor_core& first = x[0];
  if (!first.is_shape && first.grid == nullptr) refuse_grids(op.name, true);
  for (int k = 1; k < x.count(); ++k) {
    if (x[k].grid != first.grid) refuse_grids(op.name, !x[k].is_shape && x[k].grid == nullptr);
    if (x[k].facts->is_static) continue;
    for (int d = 0; d < x[k].rank(); ++d) {
      const dim_facts* const dim = x[k].facts->dim[d];
      if (dim->extent != dynamic) continue;
      for (int i = 0; i < k; ++i) {
        const int at = x[i].facts->place_of(dim);
        if (at < 0) continue;
        if (x[i].extent(at) != x[k].extent(d))
          refuse_extents(op, dim, x[i].extent(at), x[k].extent(d));
        break;
      }
    }
  }
}

/// The extent of a dim of the result.
constexpr index_t extent_among(const operation& op, const dim_facts* d, operands x) {
  if (d->extent != dynamic) return d->extent;
  if (op.own_dims) {
    const index_t n = op.extent_of(d);
    if (n != dynamic) return n;
  }
  for (int k = 0; k < x.count(); ++k) {
    const int at = x[k].facts->place_of(d);
    if (at >= 0) return x[k].extent(at);
  }
  return dynamic;
}

/// Extents and blocks of y, whose facts are there: those of an operand of the same form, or anew.
constexpr void place(const operation& op, tensor_core& y, operands x) {
  if (!op.own_dims && y.facts->same_blocks(*x[0].facts)) return y.place_like(x[0]);
  y.stand_with(x[0]);
  index_t extents[max_dims] = {};
  for (int d = 0; d < y.rank(); ++d) extents[d] = extent_among(op, y.facts->dim[d], x);
  y.place(extents);
}

/// The axes along which the result of a linear operation may be counted once: where every partial
/// operand is.
constexpr unsigned common_once(unsigned partial, operands x) {
  unsigned any = 0, mixed = 0;
  for (int k = 0; k < x.count(); ++k) {
    any |= x[k].facts->partial;
    mixed |= x[k].facts->partial & ~x[k].once;
  }
  return partial & any & ~mixed;
}

constexpr tally* tally_of(operands x) {
  for (int k = 0; k < x.count(); ++k)
    if (x[k].count != nullptr) return x[k].count;
  return nullptr;
}

/// Memory for a result (of a shape: bytes that count as alive).
constexpr void give_memory(const operation& op, tensor_core& y, operands x, const storage* slot,
                           tally* t) {
  if (y.facts->partial != 0) y.once = common_once(y.facts->partial, x);
  if (y.is_shape) {
    y.count = t;
    if (op.aliases >= 0)
      y.live = x[op.aliases].live;
    else
      y.live = live_bytes(t, y.bytes());
  } else if (op.aliases >= 0) {
    y.memory = x[op.aliases].memory;
  } else if (slot != nullptr && *slot) {
    y.memory = *slot;
  } else {
    y.memory = storage::acquire(static_cast<std::size_t>(y.bytes()));
  }
}

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
  } else if (op.aliases < 0) {
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
    if (top != nullptr && top->level == t->level) refuse_tapes(op.name);
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
[[gnu::noinline]] constexpr void evaluate(const operation& op, results y, operand* x, int count,
                                          bool placed = false, const storage* slots = nullptr) {
  tape* t = nullptr;
  if (op.has_transpose && y[0].facts->real != nullptr) t = top_tape(op, x, count);
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

/// A cotangent that is to be recorded itself comes from an operation that cannot be.
constexpr void refuse_recorded(const operation& op, const operand* x, int count) {
  for (int k = 0; k < count; ++k)
    if (x[k].record != nullptr)
      (words() << op.name
               << ": gradients of gradients do not pass through this operation: its transpose has "
                  "no transpose of its own; compose it of others, or use stop_gradient")
          .raise();
}

// ---- the way back -------------------------------------------------------------------------------

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
    return x.facts == &bar || (x.facts->real == bar.real && x.facts->same_dims(bar) &&
                               x.facts->layout == bar.layout);
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
  [[gnu::noinline]] constexpr void run(int k, const operation& op, operand* in, int count) const {
    if (!op.has_transpose) refuse_recorded(op, in, count);
    held* const bar = fresh(k);
    tensor_core* const y[] = {&bar->core};
    const storage slot = at(k)->to->offer();
    evaluate(op, results(y, 1), in, count, true, &slot);
    at(k)->to->add(std::move(bar->core));
    tape_->release(bar);
  }
  constexpr void run_all(const operation& op, operand* in, int count) const;

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
  template <class Op, class... In>
  constexpr void give(int k, const Op& op, const In&... in) const {
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
    evaluate(bound<Op, Depth - 1, Recorded>(op), results(result, 1), all, sizeof...(In));
    return y;
  }
};

constexpr void pullback_base::run_all(const operation& op, operand* in, int count) const {
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

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

#include "dimesh/core/op_node.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

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
    if (y_.count() > 1) refuse_auxiliary(bound<Op, 0>(op), x_, y_, all, sizeof...(In));
    const bound<Op, Depth - 1, Recorded> it(op);
    if constexpr (!has_transpose<Op>) refuse_recorded(it, all, sizeof...(In));
    evaluate(it, results(result, 1), all, sizeof...(In));
    return y;
  }
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

/// Where cotangents go that the part of a way back under way leaves out. It is away meanwhile.
struct left_out {
  cell* at[max_operands] = {};
  int count = 0, stay = 0;

  constexpr left_out(held* operands, bool inputs_stay) {
    int i = 0;
    for (held* h = operands; h != nullptr; h = h->next, ++i)
      if (h->to != nullptr && h->to->to_input != inputs_stay)
        at[i] = std::exchange(h->to, nullptr), ++count;
      else if (h->to != nullptr)
        ++stay;
  }
  constexpr void put_back(held* operands) const {
    int i = 0;
    for (held* h = operands; h != nullptr; h = h->next, ++i)
      if (at[i] != nullptr) h->to = at[i];
  }
};

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
  const left_out others(operands_, first);
  if (filled && others.stay > 0) transpose(bar);
  if (first && others.count == 0) bar = tensor_core(bar.facts);
  count_down();
  if (first) others.put_back(operands_);
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

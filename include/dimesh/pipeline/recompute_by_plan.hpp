// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do layers inside of a model, or of a stage, run again as a plan says? They are a block: what
// the plan keeps on the way forward waits for the block's cotangent, and then the plan goes on.
//
//   constexpr auto block = recompute(sqrt_cells(24), each_of(layer));
//   x = block(p.layers, x);                      // in any function whose gradient is taken
//   cell<0>(recompute(revolve{6, 2}, in_turn(f, each_of(g), h)))        // in a pipeline
//   recompute(revolve{1000, 10}, step)(material, u)                     // a step, a thousand times
//
// The same values, and the same bits of every gradient, under all plans.
#pragma once

#include "dimesh/pipeline/run_plan.hpp"

namespace dimesh {

namespace detail::pipeline {

/// A block between its way forward and its way back.
class planned_run {
 public:
  std::unique_ptr<layer_chain> layers;
  cores y = {};  // what the last layer gave

  planned_run(std::unique_ptr<layer_chain> all, std::vector<plan_action> actions, cores x,
              const plan_settings& how, int number)
      : layers(std::move(all)),
        actions_(std::move(actions)),
        report_(how.report),
        runner_(
            "recompute", layers->cells, std::move(x),
            [this](const cores& last) {
              y = last;
              return cores{};
            },
            how.directory, number) {
    while (!runner_.ended()) runner_(actions_[next_++]);
    const bool used = next_ < actions_.size() && actions_[next_].work != plan_work::reverse &&
                      actions_[next_].work != plan_work::load;
    if (!used) runner_.let_go();
    report();
  }
  planned_run(const planned_run&) = delete;
  planned_run& operator=(const planned_run&) = delete;

  /// The cotangents of x; those of the weights are in the cells' sums.
  cores backward(cores ybar) {
    runner_.resume(std::move(ybar));
    while (next_ < actions_.size()) runner_(actions_[next_++]);
    report();
    return runner_.bar();
  }

 private:
  void report() const {
    if (report_ != nullptr) *report_ = runner_.report;
  }
  std::vector<plan_action> actions_;
  plan_report* report_;
  plan_runner runner_;
  std::size_t next_ = 0;
};

/// The node of such a block: where its cotangents come from, and where they go.
class planned_node final : public node_base {
 public:
  planned_node(std::unique_ptr<planned_run> run, tape* outer, std::vector<cell*> weights,
               std::vector<cell*> x, cores y)
      : run_(std::move(run)),
        outer_(outer),
        weights_(std::move(weights)),
        x_(std::move(x)),
        y_(std::move(y)) {
    each_input([this](cell& c) { ++c.uses, leads_to_input |= c.to_input; });
    if (!leads_to_input) each_input([](cell& c) { c.put_off = true; });
    for (const tensor_core& one : y_)
      if (one.record != nullptr && leads_to_input) one.record->to_input = true;
  }
  void backward() override {
    // As a recomputed block: whole, in the first part of a way back in two.
    if (leads_to_input && outer_->way == way_back::to_the_rest) return;
    bool wanted = false;
    for (const tensor_core& one : y_) wanted |= one.record != nullptr && one.record->filled;
    each_input([](cell& c) { --c.uses; });
    if (wanted) go_back();
    run_.reset();
  }
  void drop() override { drop_node(this); }

 private:
  template <class F> void each_input(const F& f) {
    for (const auto* all : {&weights_, &x_})
      for (cell* c : *all)
        if (c != nullptr) f(*c);
  }
  /// Contributions to a weight add up where those of other uses do: not a bit of a sum differs.
  void go_back() {
    cores bars;
    for (const tensor_core& one : y_) {
      if (!one.facts->has_gradient) continue;
      tensor_core& bar = bars.emplace_back(one.facts->dual);
      if (one.record != nullptr)
        collect_gradient(bar, one);
      else
        zero_cotangent(bar, one);
    }
    each_sum([](cell& c, tensor_core& sum) {
      if (std::exchange(c.filled, false)) sum = std::move(c.bar);
    });
    cores xbar = run_->backward(std::move(bars));
    each_sum([](cell& c, tensor_core& sum) {
      if (sum.defined() || sum.is_shape) c.add(std::exchange(sum, tensor_core{}));
    });
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (x_[i] != nullptr) x_[i]->add(std::move(xbar[i]));
  }
  template <class F> void each_sum(const F& f) {
    std::size_t at = 0;
    const cell_base* last = nullptr;
    for (cell_base* layer : run_->layers->cells) {
      if (std::exchange(last, layer) == layer) continue;  // the same step again
      for (tensor_core& sum : layer->sums)
        if (cell* const c = weights_[at++]; c != nullptr) f(*c, sum);
    }
  }

  std::unique_ptr<planned_run> run_;
  tape* outer_;
  std::vector<cell*> weights_, x_;  // null: nobody wants it
  cores y_;  // without elements
};

/// The cells of tensors, null where nothing is recorded; of inputs, those that have a gradient.
template <class X> std::vector<cell*> records_of(const X& x, bool with_gradient_only) {
  std::vector<cell*> all;
  const core_list<X> from(x);
  for (int i = 0; i < from.size; ++i)
    if (!with_gradient_only || from.at[i]->facts->has_gradient) all.push_back(from.at[i]->record);
  return all;
}

/// What recompute(plan, layers) returns.
template <class P, class F> class recomputed_by {
 public:
  constexpr recomputed_by(const P& plan, const F& layers, const plan_settings& how)
      : plan_(plan), layers_(layers), how_(how) {}

  template <class W, class X>
  constexpr auto operator()(const W& weights, const X& x, int number = 0) const {
    using plain_weights = std::remove_cvref_t<decltype(unrecorded(weights))>;
    using plain_x = std::remove_cvref_t<decltype(unrecorded(x))>;
    using taken = typed_chain<F, plain_weights, plain_x>;
    using fault = typename taken::fault;
    constexpr bool repeats = !ok<fault> || taken::repeats;
    static_assert(ok<only<fault, not_a_tensor>>,
                  "recompute: a state has a part that is no tensor, or a vector, which a plan does "
                  "not keep; use arrays, and tensors for numbers");
    static_assert(ok<layers_fault<fault>>,
                  "recompute: a layer cannot be called with its weights and what the layer before "
                  "it gives; take both as const auto&, and return a tensor");
    static_assert(repeats,
                  "recompute: a step that is repeated, or one of layers of one form, gives a "
                  "tensor of another type than it takes; relayout its result");
    static_assert(!(find_nested<W>() || find_nested<X>()),
                  "recompute: gradients of gradients do not pass through a recomputed block; "
                  "take the inner gradient inside of it, or call the function itself");
    if constexpr (!ok<fault> || !repeats || find_nested<W>() || find_nested<X>()) {
      return poison{};
    } else if constexpr (!is_recorded<W> && !is_recorded<X>) {
      return all_of(weights, x, number);
    } else {
      // (While compiling, what is run again is not counted.)
      if (std::is_constant_evaluated()) return all_of(weights, x, number);
      return record<taken>(weights, x, number);
    }
  }

 private:
  template <class W, class X> constexpr auto all_of(const W& w, const X& x, int number) const {
    at_least(1, "recompute", plan_.steps, "steps");
    if constexpr (is_sequence<F>) {
      return layers_(w, x, number);
    } else {
      auto y = call_cell(layers_, w, x, 0);
      for (int i = 1; i < plan_.steps; ++i) y = call_cell(layers_, w, y, i);
      return y;
    }
  }
  template <class Chain, class W, class X>
  auto record(const W& weights, const X& x, int number) const {
    using Y = decltype(all_of(weights, x, number));
    at_least(1, "recompute", plan_.steps, "steps");
    using plain_x = std::remove_cvref_t<decltype(unrecorded(x))>;
    tape* const t = tape_among(weights, x);
    cores from;
    const auto plain = unrecorded(x);
    const core_list<plain_x> given(plain);
    for (int i = 0; i < given.size; ++i) from.push_back(*given.at[i]);
    auto layers = std::make_unique<Chain>(layers_, unrecorded(weights), plan_.steps);
    check_steps("recompute", check_plan(plan_), plan_.steps,
                static_cast<int>(layers->cells.size()));
    auto run = std::make_unique<planned_run>(std::move(layers), actions_of(plan_), std::move(from),
                                             how_, is_sequence<F> ? number : -1);
    Y y{};
    cores kept;
    const core_list<Y> to(y);
    for (int i = 0; i < to.size; ++i) {
      const tensor_facts* const facts = to.at[i]->facts;
      *to.at[i] = std::move(run->y[static_cast<std::size_t>(i)]);
      to.at[i]->facts = facts;
      if (t != nullptr && facts->has_gradient) {
        auto* const result = t->template add<variable_node>();
        result->on = t;
        to.at[i]->record = result;
      }
      kept.push_back(*to.at[i]);
      kept.back().forget_data();
    }
    run->y.clear();
    if (t != nullptr)
      t->template add<planned_node>(std::move(run), t, records_of(weights, false),
                                    records_of(x, true), std::move(kept));
    return y;
  }

  P plan_;
  F layers_;
  plan_settings how_;
};

}  // namespace detail::pipeline

/// The layers, run again on the way back as the plan says: a function of weights and an input, as
/// `layers` is (each_of, in_turn, or a step, which is repeated plan.steps times). Communicates what
/// they do, each time that they run, and as value_and_grad_by where states go to a disk. Throws
/// dimesh::error for a plan that is wrong, or made for another number of layers. In a constant
/// expression nothing runs again.
template <RecomputePlan P, class F> constexpr auto recompute(const P& plan, const F& layers) {
  return detail::pipeline::recomputed_by<P, F>(plan, layers, plan_settings{});
}
template <RecomputePlan P, class F>
constexpr auto recompute(const P& plan, const F& layers, const plan_settings& how) {
  return detail::pipeline::recomputed_by<P, F>(plan, layers, how);
}

}  // namespace dimesh

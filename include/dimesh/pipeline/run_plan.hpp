// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the gradient of a long chain of steps, in memory for a few of its states? A plan says
// which states are kept and which steps run again; the gradient has the same bits under each plan.
//
//   const auto r = value_and_grad_by(revolve{1000, 10}, step, weights, x0, loss);
//     step(weights, x), or step(weights, x, i): step i, of x's type; loss(x): of the last state
//   r.value, r.gradient (of the weights), r.state (of x0)       partial, as value_and_grad gives
//   value_and_grad_by(sqrt_cells(24), each_of(layer), weights, x, loss)    layers with weights of
//       their own, in an array or vector
//   value_and_grad_by(revolve{6, 2}, in_turn(f, each_of(g), h), weights, x, loss)    of many forms
#pragma once

#include "dimesh/grad/vjp.hpp"
#include "dimesh/pipeline/check_plan.hpp"
#include "dimesh/pipeline/layer_chain.hpp"
#include "dimesh/pipeline/plan_runner.hpp"

namespace dimesh {

/// Where states lie that a plan writes to a disk, and where to note what it took.
struct plan_settings {
  std::string directory = ".";  ///< must be there; files have no names once they are open
  plan_report* report = nullptr;
};

/// What value_and_grad_by returns.
template <class Value, class Gradient, class State> struct [[nodiscard]] value_and_gradients {
  Value value;  ///< the loss, as it gave it
  Gradient gradient;  ///< of the weights
  State state;  ///< of the first state
};

namespace detail::pipeline {

inline void check_steps(std::string_view call, const plan_facts& facts, int steps, int layers) {
  if (!facts.ok())
    (words() << call << ": the plan is wrong: action " << facts.action
             << " cannot be done; check_plan says why")
        .raise();
  if (steps != layers)
    (words() << call << ": the plan has " << steps << " steps, the chain " << layers
             << "; make the plan for as many")
        .raise();
}

/// The value of a loss of the last state, and the cotangents of that.
template <class X, class Loss> auto end_of(const Loss& loss, const cores& last) {
  X x{};
  const core_list<X> to(x);
  for (int i = 0; i < to.size; ++i) {
    const tensor_facts* const facts = to.at[i]->facts;
    *to.at[i] = last[static_cast<std::size_t>(i)];
    to.at[i]->facts = facts;
  }
  return value_and_grad(loss, x)();
}

/// X: of the first state, Y: of the last one.
template <class X, class Y, class P, class W, class Loss>
auto run_plan(const P& plan, std::span<cell_base* const> steps, const W& weights, const X& x0,
              const Loss& loss, const plan_settings& how) {
  using ending = decltype(end_of<Y>(loss, cores{}));
  ending last{};
  cores first;
  const core_list<X> from(x0);
  for (int i = 0; i < from.size; ++i) first.push_back(*from.at[i]);
  const auto ends = [&](const cores& y) {
    last = end_of<Y>(loss, y);
    cores bars;
    const core_list<Y> all(last.gradient);
    for (int i = 0; i < all.size; ++i) bars.push_back(*all.at[i]);
    return bars;
  };
  plan_runner runner("value_and_grad_by", steps, std::move(first), ends, how.directory);
  plan.each([&runner](const plan_action& a) { runner(a); });
  if (how.report != nullptr) *how.report = runner.report;
  rebind_layout<X, dimesh::gradient> state{};
  const core_list<X> to(state);
  cores bar = runner.bar();
  for (int i = 0; i < to.size; ++i) {
    const tensor_facts* const facts = to.at[i]->facts;
    *to.at[i] = std::move(bar[static_cast<std::size_t>(i)]);
    to.at[i]->facts = facts;
  }
  auto g = gradient_of(weights, steps);
  return value_and_gradients<decltype(last.value), decltype(g), decltype(state)>{
      std::move(last.value), std::move(g), std::move(state)};
}

}  // namespace detail::pipeline

/// The loss of the last of plan.steps states, and its gradients with respect to the weights (a
/// struct of tensors; of a sequence of layers as the sequence takes them) and the first state.
/// `layers`: a step, which is repeated and gives what it takes, or a sequence of them. Communicates
/// what the steps do, each time that they run, and the loss; of a state that goes to a disk, or
/// comes from it, whether that went well. Throws dimesh::error for a plan that is wrong, or made
/// for another number of layers, and where a rank's disk fails, on all ranks.
template <RecomputePlan P, class F, class W, class X, class Loss>
auto value_and_grad_by(const P& plan, const F& layers, const W& weights, const X& x0,
                       const Loss& loss, const plan_settings& how = {}) {
  using taken = detail::pipeline::typed_chain<F, W, X>;
  constexpr bool repeats = !ok<typename taken::fault> || taken::repeats;
  static_assert(ok<only<typename taken::fault, not_a_tensor>>,
                "value_and_grad_by: a state has a part that is no tensor, or a vector, which a "
                "plan does not keep; use arrays, and tensors for numbers");
  static_assert(ok<detail::pipeline::layers_fault<typename taken::fault>>,
                "value_and_grad_by: a layer cannot be called with its weights and what the layer "
                "before it gives; take both as const auto&, and return a tensor");
  static_assert(repeats,
                "value_and_grad_by: a step gives a tensor of another type than it takes; relayout "
                "its result to the layout of the state");
  if constexpr (!repeats || !ok<typename taken::fault>) {
    return value_and_gradients<poison, poison, poison>{};
  } else {
    constexpr std::string_view call = "value_and_grad_by";
    detail::pipeline::at_least(1, call, plan.steps, "steps");
    taken steps(layers, weights, plan.steps);
    detail::pipeline::check_steps(call, check_plan(plan), plan.steps,
                                  static_cast<int>(steps.cells.size()));
    return detail::pipeline::run_plan<X, typename taken::given>(plan, steps.cells, weights, x0,
                                                                loss, how);
  }
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the gradient of a long chain of steps, in memory for a few of its states? A plan says
// which states are kept and which steps run again; the gradient has the same bits under each plan.
//
//   const auto r = value_and_grad_by(revolve{1000, 10}, step, weights, x0, loss);
//     step(weights, x), or step(weights, x, i): step i, of x's type; loss(x): of the last state
//   r.value, r.gradient (of the weights), r.state (of x0)       partial, as value_and_grad gives
//   value_and_grad_by(sqrt_cells(24), each_of(layer), weights, x, loss)    layers with weights of
//       their own, in an array or vector
#pragma once

#include "dimesh/grad/vjp.hpp"
#include "dimesh/pipeline/check_plan.hpp"
#include "dimesh/pipeline/plan_runner.hpp"
#include "dimesh/pipeline/typed_cell.hpp"

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

inline void check_steps(const plan_facts& facts, int steps, int layers) {
  if (!facts.ok())
    (words() << "recompute: the plan is wrong: action " << facts.action
             << " cannot be done; check_plan says why")
        .raise();
  if (layers > 0 && steps != layers)
    (words() << "recompute: the plan has " << steps << " steps, the chain " << layers
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

template <class P, class X, class Loss, class Gradients>
auto run_plan(const P& plan, std::span<cell_base* const> steps, const X& x0,
              const plan_settings& how, const cores& end, const Loss& loss,
              const Gradients& gradients) {
  using ending = decltype(end_of<X>(loss, end));
  ending last{};
  cores first;
  const core_list<X> from(x0);
  for (int i = 0; i < from.size; ++i) first.push_back(*from.at[i]);
  const auto ends = [&](const cores& y) {
    last = end_of<X>(loss, y);
    cores bars;
    const core_list<X> all(last.gradient);
    for (int i = 0; i < all.size; ++i) bars.push_back(*all.at[i]);
    return bars;
  };
  plan_runner runner(steps, std::move(first), ends, how.directory);
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
  auto g = gradients();
  return value_and_gradients<decltype(last.value), decltype(g), decltype(state)>{
      std::move(last.value), std::move(g), std::move(state)};
}

}  // namespace detail::pipeline

/// The loss of the last of plan.steps states, and its gradients with respect to the weights (a
/// struct of tensors) and the first state. Communicates what the steps do, each time that they run,
/// and the loss. Throws dimesh::error for a plan that is wrong.
template <RecomputePlan P, class Step, class W, class X, class Loss>
auto value_and_grad_by(const P& plan, const Step& step, const W& weights, const X& x0,
                       const Loss& loss, const plan_settings& how = {}) {
  using after = detail::pipeline::nothing_more;
  using typed = detail::pipeline::typed_cell<0, Step, W, X, true, false, after>;
  constexpr bool same = std::is_same_v<typename typed::plain_given, X>;
  static_assert(same,
                "value_and_grad_by: a step gives a tensor of another type than it takes; relayout "
                "its result to the layout of the state");
  if constexpr (!same) {
    return value_and_gradients<poison, poison, poison>{};
  } else {
    detail::pipeline::check_steps(check_plan(plan), plan.steps, 0);
    const after nothing;
    typed one(step, weights, nothing);
    const std::vector<detail::pipeline::cell_base*> steps(static_cast<std::size_t>(plan.steps),
                                                          &one);
    return detail::pipeline::run_plan(plan, steps, x0, how, {}, loss,
                                      [&one] { return one.gradient(); });
  }
}
/// The same of an array or vector of weights, one element for each step.
template <RecomputePlan P, class F, class W, class X, class Loss>
auto value_and_grad_by(const P& plan, const detail::pipeline::function_of_each<F>& step,
                       const W& weights, const X& x0, const Loss& loss,
                       const plan_settings& how = {}) {
  using after = detail::pipeline::nothing_more;
  using element = typename W::value_type;
  using typed = detail::pipeline::typed_cell<0, F, element, X, true, false, after>;
  static_assert(std::is_same_v<typename typed::plain_given, X>,
                "value_and_grad_by: a step gives a tensor of another type than it takes; relayout "
                "its result to the layout of the state");
  detail::pipeline::check_steps(check_plan(plan), plan.steps, static_cast<int>(weights.size()));
  const after nothing;
  std::vector<typed> all;
  all.reserve(weights.size());
  std::vector<detail::pipeline::cell_base*> steps;
  for (const element& w : weights) steps.push_back(&all.emplace_back(step.f, w, nothing));
  return detail::pipeline::run_plan(plan, steps, x0, how, {}, loss, [&] {
    auto g = detail::in_form_of<rebind_layout<W, gradient>>(weights);
    for (std::size_t i = 0; i < all.size(); ++i) g[i] = all[i].gradient();
    return g;
  });
}

}  // namespace dimesh

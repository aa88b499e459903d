// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do parameters follow the gradient? Downhill in a straight line, or with momentum.
//
//   sgd descend{.rate = 0.1};                 descend(params, complete(gradients));
//   momentum roll{.rate = 0.1, .decay = 0.9}; auto state = roll.start(params);
//                                             roll(params, complete(gradients), state);
#pragma once

#include "dimesh/detail/number_given.hpp"
#include "dimesh/optim/state.hpp"
#include "dimesh/optim/step.hpp"

namespace dimesh {

namespace detail {
struct sgd_rule {
  double rate, weight_decay;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION void operator()(T& p, const T& g) const {
    p -= static_cast<T>(rate) * (g + static_cast<T>(weight_decay) * p);
  }
};
struct momentum_rule {
  double rate, decay;
  bool nesterov;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION void operator()(T& p, const T& g, T& m) const {
    m = static_cast<T>(decay) * m + g;
    p -= static_cast<T>(rate) * (nesterov ? g + static_cast<T>(decay) * m : m);
  }
};
}  // namespace detail

/// Gradient descent: p -= rate * (g + weight_decay * p). In place, one pass. A step throws
/// dimesh::error where a number is negative or not finite: to climb, negate the loss.
struct sgd {
  double rate = 0.01;
  double weight_decay = 0;
  detail::no_more_numbers end{};

  /// Says that a step is a call of the optimizer itself.
  template <class... No, class... A> void step(const A&...) const { detail::refuse_step<No...>(); }

  template <class P, class G> void operator()(P& parameters, const G& gradients) const {
    using fault = detail::training_fault<P, G>;
    static_assert(ok<only<fault, parameter_is_rounded>>,
                  "sgd: small updates would be rounded away; keep parameters in float or double");
    static_assert(ok<only<fault, parameters_are_const>>,
                  "sgd: the parameters are const, and change in place; pass them without const");
    static_assert(ok<only<fault, structs_differ>>,
                  "sgd: parameters and gradients are structs of two forms; pass the gradients of "
                  "these parameters");
    static_assert(ok<only<fault, gradient_not_complete>>,
                  "sgd: a gradient is a sum yet to be made; pass complete(gradients)");
    static_assert(ok<only<fault, layouts_differ>>,
                  "sgd: a parameter and its gradient have different layouts; relayout one of them");
    static_assert(ok<only<fault, lengths_differ>>,
                  "sgd: parameters and gradients differ in the length of an array; pass the "
                  "gradients of these parameters");
    if constexpr (ok<fault> && !is_poison<G>) {
      detail::require_not_negative("sgd", "rate", rate);
      detail::require_not_negative("sgd", "weight decay", weight_decay);
      detail::check_lengths<P>("sgd", parameters, gradients);
      detail::update_tensors(detail::sgd_rule{rate, weight_decay}, parameters, gradients);
    }
  }
};

/// The average that momentum keeps.
template <class P> struct [[nodiscard]] momentum_state {
  P average{};

  template <class S, class F> static void for_each_part(S& s, const F& f) {
    f("average", s.average);
  }
};

/// Gradient descent with momentum: m = decay * m + g; p -= rate * m, or rate * (g + decay * m) in
/// Nesterov's form (Sutskever et al. 2013, "On the importance of initialization and momentum"). A
/// step throws dimesh::error unless rate >= 0 and 0 <= decay <= 1.
struct momentum {
  double rate = 0.01;
  double decay = 0.9;
  bool nesterov = false;
  detail::no_more_numbers end{};

  /// Says that a step is a call of the optimizer itself.
  template <class... No, class... A> void step(const A&...) const { detail::refuse_step<No...>(); }

  /// State: one tensor of zeros for each parameter, with its layout.
  template <class P> static momentum_state<P> start(const P& parameters) {
    return {detail::zeros_in_form_of(parameters)};
  }

  /// What it says where the state is missing, or not its own.
  template <class P, class G, class... S>
    requires(!detail::is_state<momentum_state<std::remove_const_t<P>>, S...>)
  void operator()(P&, const G&, S&...) const {
    static_assert(
        ok<wrong_arguments<P, G, S...>>,
        "momentum: the arguments are parameters, gradients and the state that start(parameters) "
        "gave; pass that state, one for these parameters");
  }
  template <class P, class G>
  void operator()(P& parameters, const G& gradients,
                  momentum_state<std::remove_const_t<P>>& state) const {
    using fault = detail::training_fault<P, G>;
    static_assert(
        ok<only<fault, parameter_is_rounded>>,
        "momentum: small updates would be rounded away; keep parameters in float or double");
    static_assert(
        ok<only<fault, parameters_are_const>>,
        "momentum: the parameters are const, and change in place; pass them without const");
    static_assert(
        ok<only<fault, structs_differ>>,
        "momentum: parameters and gradients are structs of two forms; pass the gradients of "
        "these parameters");
    static_assert(ok<only<fault, gradient_not_complete>>,
                  "momentum: a gradient is a sum yet to be made; pass complete(gradients)");
    static_assert(
        ok<only<fault, layouts_differ>>,
        "momentum: a parameter and its gradient have different layouts; relayout one of them");
    static_assert(ok<only<fault, lengths_differ>>,
                  "momentum: parameters and gradients differ in the length of an array; pass the "
                  "gradients of these parameters");
    if constexpr (ok<fault> && !is_poison<G>) {
      detail::require_not_negative("momentum", "rate", rate);
      detail::require_part("momentum", "decay", decay);
      detail::check_lengths<P>("momentum", parameters, gradients, state.average);
      detail::update_tensors(detail::momentum_rule{rate, decay, nesterov}, parameters, gradients,
                             state.average);
    }
  }
};

}  // namespace dimesh

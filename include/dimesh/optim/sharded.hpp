// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is an optimizer's state spread over ranks that hold the same parameters? State and update
// live under a layout that splits more (Rajbhandari et al. 2020, "ZeRO", stages 1 and 2): gradients
// are reduce-scattered instead of all-reduced, ranks update their shards, parameters are gathered.
//
//   using zero = layout<pod, spread<rows>>;            // added to each parameter's own splits
//   auto optimizer = sharded<zero>(adam{.rate = 1e-3});
//   auto state = optimizer.start(params);              // 1/rows of adam's
//   optimizer(params, value_and_grad(f, params)(x).gradient, state);   // not completed
//
// Or in steps, for what comes between: reduce_scatter_together, clip_by_global_norm, ...
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/optim/forms.hpp"
#include "dimesh/optim/shards.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/detail/replicas_in.hpp"
#endif

namespace dimesh {

namespace detail {

template <class P, class S, class G, class Fault = form_fault<P, G>> struct sharding_fault {
  using type = Fault;
};
template <class P, class S, class G> struct sharding_fault<P, S, G, no_fault> {
  using type =
      typename completed_fault<typename leaves<shards<P, S>>::type, typename leaves<G>::type>::type;
};

}  // namespace detail

/// An optimizer whose state lies under the layouts of the parameters with the rules of S added.
/// Communicates: one reduce-scatter of the gradients and one all-gather of the parameters for each
/// set of axes, an all-reduce for gradients that no axis can split, and what the optimizer does.
template <Layout S, class Optimizer> class sharded_optimizer {
 public:
  explicit sharded_optimizer(const Optimizer& o) : optimizer(o) {}

  Optimizer optimizer;

  /// The optimizer's state for this rank's shard of the parameters.
  template <class P> auto start(const P& parameters) const {
    return optimizer.start(shards_of<S>(parameters));
  }

  /// One step in place; `gradients` as value_and_grad returns them, partial where parameters are
  /// replicated.
  template <class P, class G, class State>
  void operator()(P& parameters, const G& gradients, State& state) const {
    using fault = typename detail::sharding_fault<P, S, G>::type;
    static_assert(
        ok<only<fault, parameters_are_const>>,
        "sharded: the parameters are const, and change in place; pass them without const");
    static_assert(ok<only<fault, structs_differ>>,
                  "sharded: parameters and gradients are structs of two forms; pass the gradients "
                  "of these parameters");
    static_assert(
        ok<only<fault, gradient_is_complete>>,
        "sharded: the gradients are complete, and would be summed once more; pass them as "
        "value_and_grad returns them");
    if constexpr (ok<fault> && !is_poison<G>)
      update_all_gather(parameters, reduce_scatter_together<S>(gradients), state);
  }

  /// The second half: `gradients` are reduce-scattered ones.
  template <class P, class G, class State>
  void update_all_gather(P& parameters, const G& gradients, State& state) const {
#ifdef DIMESH_CHECKED
    detail::require_replicas_in("sharded", "parameter", parameters);
#endif
    auto shards = shards_of<S>(parameters);
    detail::lend_memory(shards, parameters);
    try {
      optimizer(shards, gradients, state);
    } catch (...) {
      detail::take_memory_back(shards, parameters);
      throw;
    }
    detail::take_memory_back(shards, parameters);  // also where gathering others fails
    all_gather_together(shards, parameters);
  }
};

/// The optimizer with its state spread by the rules of S.
template <Layout S, class Optimizer> [[nodiscard]] auto sharded(const Optimizer& o) {
  return sharded_optimizer<S, Optimizer>(o);
}
/// No layout, one that is an argument, and an optimizer that is none.
template <class S, class Optimizer>
  requires(!Layout<S>)
poison sharded(const Optimizer&) {
  static_assert(ok<not_a_layout<S>>,
                "sharded: a layout that spreads the state stands in the angle brackets, the "
                "optimizer in the parentheses: sharded<layout<pod, spread<rows>>>(adam{})");
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
poison sharded(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_layout<detail::nothing<No...>>>,
                "sharded: a layout that spreads the state stands in the angle brackets, the "
                "optimizer in the parentheses: sharded<layout<pod, spread<rows>>>(adam{})");
  return {};
}
template <Layout S, class... Optimizer> poison sharded() {
  static_assert(ok<wrong_arguments<Optimizer...>>,
                "sharded: the optimizer is an object, and stands in the parentheses: "
                "sharded<layout<pod, spread<rows>>>(adam{})");
  return {};
}

}  // namespace dimesh

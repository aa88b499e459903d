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

#include "dimesh/optim/shards.hpp"

namespace dimesh {

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
    update_all_gather(parameters, reduce_scatter_together<S>(gradients), state);
  }

  /// The second half: `gradients` are reduce-scattered ones.
  template <class P, class G, class State>
  void update_all_gather(P& parameters, const G& gradients, State& state) const {
    auto shards = shards_of<S>(parameters);
    detail::lend_memory(shards, parameters);
    try {
      optimizer(shards, gradients, state);
    } catch (...) {
      detail::take_memory_back(shards, parameters);
      throw;
    }
    all_gather_together(shards, parameters);
  }
};

/// The optimizer with its state spread by the rules of S.
template <Layout S, class Optimizer> auto sharded(const Optimizer& o) {
  return sharded_optimizer<S, Optimizer>(o);
}

}  // namespace dimesh

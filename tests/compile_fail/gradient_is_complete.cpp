// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients that have been summed, for an optimizer that sums them.
// expect: sharded: the gradients are complete, and would be summed once more; pass them as value_and_grad returns them
// expect: gradient_is_complete<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>

#include "names.hpp"

template <class L> struct net {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};
using parameters = net<whole>;
using gradients = net<dm::gradient<whole>>;
using zero = dm::sharded_optimizer<dm::layout<pod, dm::spread<rows>>, dm::momentum>;
#ifdef COMPILE_FAIL
void f(parameters& p, const gradients& g, const zero& step) {
  auto state = step.start(p);
  step(p, dm::complete(g), state);
}
#else
void f(parameters& p, const gradients& g, const zero& step) {
  auto state = step.start(p);
  step(p, g, state);
}
#endif

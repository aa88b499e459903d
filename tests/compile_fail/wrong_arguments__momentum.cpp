// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A copy of the parameters for the optimizer's state.
// expect: momentum: the arguments are parameters, gradients and the state that start(parameters) gave; pass that state, one for these parameters
// expect: wrong_arguments<net<
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>

#include "names.hpp"

template <class L> struct net {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};
using parameters = net<whole>;
using gradients = net<dm::gradient<whole>>;
#ifdef COMPILE_FAIL
void f(parameters& p, const parameters& g, const dm::momentum& roll) {
  auto state = p;
  roll(p, g, state);
}
#else
void f(parameters& p, const parameters& g, const dm::momentum& roll) {
  auto state = roll.start(p);
  roll(p, g, state);
}
#endif

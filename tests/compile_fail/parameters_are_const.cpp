// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of an optimizer on const parameters.
// expect: sgd: the parameters are const, and change in place; pass them without const
// expect: parameters_are_const<
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
void f(const parameters& p, const gradients& g) { dm::sgd{}(p, dm::complete(g)); }
#else
void f(parameters& p, const gradients& g) { dm::sgd{}(p, dm::complete(g)); }
#endif

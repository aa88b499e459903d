// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of another struct, of the same shapes.
// expect: sgd: parameters and gradients are structs of two forms; pass the gradients of these parameters
// expect: structs_differ<net<dimesh::layout<pod
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>

#include "names.hpp"

template <class L> struct net {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};
using parameters = net<whole>;
using gradients = net<dm::gradient<whole>>;
template <class L> struct other {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(other, (weight_type, weight));
};
#ifdef COMPILE_FAIL
void f(parameters& p, const other<whole>& g) { dm::sgd{}(p, g); }
#else
void f(parameters& p, const net<whole>& g) { dm::sgd{}(p, g); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An optimizer is given the gradients of a network with more layers.
// expect: adam: parameters and gradients differ in the length of an array; pass the gradients of these parameters
// expect: lengths_differ<std::array<
// levels: 1
#include <dimesh/dimesh.hpp>

#include "dimesh/optim/adam.hpp"
#include "names.hpp"

template <class L, int N> struct network {
  using layers_type = std::array<dm::tensor<float, L, hidden>, N>;
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden>, first), (layers_type, layers));
};
#ifdef COMPILE_FAIL
using other = network<hybrid, 3>;
#else
using other = network<hybrid, 2>;
#endif
void f(network<hybrid, 2>& p, const other& g, dm::adam_state<network<hybrid, 2>>& state) {
  dm::adam{}(p, g, state);
}

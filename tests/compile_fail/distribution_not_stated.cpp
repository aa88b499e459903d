// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A parameter of a network says nothing of the numbers that training begins with.
// expect: initialize: a member's type states no distribution; declare it as a parameter<how, element, L, dims...>
// expect: distribution_not_stated<
// levels: 1
#include <dimesh/dimesh.hpp>

#include "dimesh/nn/initialize.hpp"
#include "names.hpp"

namespace nn = dimesh::nn;

template <class L> struct linear {
#ifdef COMPILE_FAIL
  using bias_type = dm::tensor<float, L, hidden>;
#else
  using bias_type = nn::parameter<nn::zeros, float, L, hidden>;
#endif
  BOOST_HANA_DEFINE_STRUCT(linear, (nn::parameter<nn::ones, float, L, hidden, label>, weight),
                           (bias_type, bias));
};
void f(linear<hybrid>& p) { nn::initialize(p, dm::random_key{1}); }

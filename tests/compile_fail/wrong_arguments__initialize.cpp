// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number for the key.
// expect: initialize: the arguments are parameters that are not const, and a key: initialize(params, random_key{1})
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/initialize.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
template <class L> struct linear {
  using weight = nn::parameter<nn::zeros, float, L, hidden, label>;
  BOOST_HANA_DEFINE_STRUCT(linear, (weight, w));
};
using parameters = linear<by_batch>;
#ifdef COMPILE_FAIL
void f(parameters& p) { nn::initialize(p, 1); }
#else
void f(parameters& p) { nn::initialize(p, dm::random_key{1}); }
#endif

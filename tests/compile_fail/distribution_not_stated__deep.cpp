// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in a layer of a vector of layers.
// expect: initialize: a member's type states no distribution; declare it as a parameter<how, element, L, dims...>
// expect: distribution_not_stated<
// levels: 2
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
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (std::vector<linear<L>>, layers));
};
template <class P> P made(const dm::grid<pod>& g, dm::index_t layers) {
  auto p = dm::make<P>(g, {{"layers", layers}});
  nn::initialize(p, dm::random_key{1});
  return p;
}
auto f(const dm::grid<pod>& g) { return made<network<hybrid>>(g, 3); }

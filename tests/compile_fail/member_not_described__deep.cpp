// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a network leaves a member out of its description.
// expect: for_each_tensor: a struct has members that its BOOST_HANA_DEFINE_STRUCT leaves out; describe them all
// expect: member_not_described<linear<
// levels: 3
#include <dimesh/dimesh.hpp>

#include "names.hpp"

template <class L> struct linear {
#ifdef COMPILE_FAIL
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden, label>, weight));
  dm::tensor<float, L, label> bias;
#else
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<float, L, hidden, label>, weight),
                           (dm::tensor<float, L, label>, bias));
#endif
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (std::array<linear<L>, 2>, layers));
};
struct squares {
  template <class P> auto operator()(const P& p) const {
    return dm::sum(dm::square(p.layers[0].weight)) + dm::sum(dm::square(p.layers[1].weight));
  }
};
float f(const dm::grid<pod>& g) {
  const auto p = dm::zeros<network<hybrid>>(g);
  auto [value, gradients] = dm::complete(dm::value_and_grad(squares{}, p)());
  return dm::value(value);
}

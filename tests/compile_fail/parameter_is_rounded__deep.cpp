// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a network keeps its weights in bfloat16.
// expect: adam: small updates would be rounded away; keep parameters in float or double
// expect: parameter_is_rounded<
// levels: 3
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/adam.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using element = dm::bfloat16;
#else
using element = float;
#endif
template <class L> struct linear {
  BOOST_HANA_DEFINE_STRUCT(linear, (dm::tensor<element, L, hidden, label>, weight));
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, hidden>, bias),
                           (std::array<linear<L>, 2>, layers));
};
struct training {
  template <class P> void step(P& p, const P& gradient) const {
    const dm::adam optimizer{};
    auto state = optimizer.start(p);
    optimizer(p, gradient, state);
  }
};
void f(network<hybrid>& p, const network<hybrid>& gradient) { training{}.step(p, gradient); }

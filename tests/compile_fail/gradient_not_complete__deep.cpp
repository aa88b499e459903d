// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits in generic training code, two templates deep.
// expect: momentum: a gradient is a sum yet to be made; pass complete(gradients)
// expect: gradient_not_complete<rows>
// levels: 2
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>

#include "deep.hpp"

struct training {
  template <class P, class G, class S> void step(P& p, const G& g, S& state) const {
#ifdef COMPILE_FAIL
    dm::momentum{}(p, g, state);
#else
    dm::momentum{}(p, dm::complete(g), state);
#endif
  }
  template <class P, class G> void operator()(P& p, const G& g) const {
    auto state = dm::momentum{}.start(p);
    step(p, g, state);
  }
};
void f(parameters<hybrid>& p, const parameters<dm::gradient<hybrid>>& g) { training{}(p, g); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits in generic training code, two templates deep.
// expect: sgd: a parameter and its gradient have different layouts; relayout one of them
// expect: layouts_differ<
// levels: 2
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/sgd.hpp>

#include "deep.hpp"

struct training {
  template <class P, class G> void step(P& p, const G& g) const { dm::sgd{}(p, g); }
  template <class P, class G> void operator()(P& p, const G& g) const { step(p, dm::complete(g)); }
};
#ifdef COMPILE_FAIL
void f(parameters<hybrid>& p, const parameters<dm::gradient<whole>>& g) { training{}(p, g); }
#else
void f(parameters<hybrid>& p, const parameters<dm::gradient<hybrid>>& g) { training{}(p, g); }
#endif

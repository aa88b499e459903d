// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: tensor: the layout has two rules for one dim
// expect: dim_has_two_rules<label>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    dm::tensor<dm::value_of<X>, dm::layout<pod, dm::split<label, rows>, dm::split<label, cols>>,
               label>
        y;
    return p.b * y;
#else
    dm::tensor<dm::value_of<X>, dm::layout<pod>, label> y;
    return p.b * y;
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: exchange: the tensor, or the layout, has a place on an axis that moves
// expect: tensor_is_placed<rows>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::exchange<dm::layout<pod, dm::placed<rows, 1>>>(p.b);
#else
    return dm::broadcast<rows>(dm::relayout<dm::layout<pod, dm::placed<rows, 1>>>(p.b));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

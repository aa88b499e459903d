// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: operator+: the operands live on different ranks of this axis
// expect: placed_elsewhere<rows, 0, 1>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::place<rows, 0>(p.b) + dm::place<rows, 1>(p.b);
#else
    return dm::broadcast<rows>(dm::place<rows, 1>(p.b) + dm::place<rows, 1>(p.b));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: all_gather: another axis cuts the blocks of this one
// expect: axis_not_innermost_of_dim<label, rows>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

using fine = dm::layout<pod, dm::split<label, rows, cols>>;
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::all_gather<rows>(dm::relayout<fine>(p.b));
#else
    return dm::all_gather<cols>(dm::relayout<fine>(p.b));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: operator+: the operands are split differently; relayout one of them
// expect: dim_split_differently<wide>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct wide : dm::dim<16> {};
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    dm::tensor<dm::value_of<X>, dm::layout<pod, dm::split<wide, rows, cols>>, wide> y;
    dm::tensor<dm::value_of<X>, dm::layout<pod, dm::split<wide, cols, rows>>, wide> z;
    return p.b * dm::complete(dm::sum(y + z));
#else
    dm::tensor<dm::value_of<X>, dm::layout<pod, dm::split<wide, rows, cols>>, wide> y;
    return p.b * dm::complete(dm::sum(y + y));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

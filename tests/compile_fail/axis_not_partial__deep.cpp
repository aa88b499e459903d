// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: all_reduce: the tensor holds no addends along this axis
// expect: axis_not_partial<rows>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::all_reduce<rows>(dm::einsum<batch, label>(x, p.w));
#else
    return dm::all_reduce<cols>(dm::einsum<batch, label>(x, p.w));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

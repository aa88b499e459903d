// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: operator*: one operand is a sum yet to be made along an axis that splits the other
// expect: partial_meets_split<cols, hidden>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::sum<label>(dm::einsum<batch, label>(x, p.w)) * x;
#else
    return dm::complete(dm::sum<label>(dm::einsum<batch, label>(x, p.w))) * x;
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: relu: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: partial_operand<cols>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::relu(dm::einsum<batch, label>(x, p.w));
#else
    return dm::relu(dm::complete(dm::einsum<batch, label>(x, p.w)));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

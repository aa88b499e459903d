// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: operator*: both operands are sums yet to be made
// expect: both_operands_partial<cols>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    const auto y = dm::einsum<batch, label>(x, p.w);
    return y * y;
#else
    const auto y = dm::complete(dm::einsum<batch, label>(x, p.w));
    return y * y;
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

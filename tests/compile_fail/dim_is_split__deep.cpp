// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: argmax: the dim is split, and a rank sees its block only; take argmax_all_gather, or gather it with whole<dim> first
// expect: dim_is_split<hidden, cols>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::complete(dm::einsum<batch, label>(x, p.w)) *
           dm::one_hot<label>(dm::argmax<hidden>(x));
#else
    return dm::complete(dm::einsum<batch, label>(x, p.w)) *
           dm::one_hot<label>(dm::argmax<hidden>(dm::whole<hidden>(x)));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

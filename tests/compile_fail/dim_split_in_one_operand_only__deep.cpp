// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: operator+: a dim is split in one operand only
// expect: dim_split_in_one_operand_only<hidden, cols>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return p.w + dm::whole<hidden>(p.w);
#else
    return p.w + p.w;
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

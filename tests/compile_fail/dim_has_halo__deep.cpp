// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: sum: blocks of this dim carry a halo
// expect: dim_has_halo<label>
// levels: 4
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::sum<label>(dm::halo_exchange<1, label>(p.w));
#else
    return dm::sum<label>(p.w);
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

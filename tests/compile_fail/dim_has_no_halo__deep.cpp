// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mistake sits three templates deep in a model, recorded for gradients or not.
// expect: at: the tensor carries no halos, so no neighbours
// expect: dim_has_no_halo<
// levels: 7
// also: RECORDED
#include <dimesh/dimesh.hpp>

#include "deep.hpp"

struct mean_of_two {
  template <class U> auto operator()(const U& u) const {
    return (dm::at<label>(u, -1) + dm::at<label>(u, 1)) / 2;
  }
};
struct step {
  template <class P, class X> auto operator()(const P& p, [[maybe_unused]] const X& x) const {
#ifdef COMPILE_FAIL
    return dm::stencil(mean_of_two{}, p.w);
#else
    return dm::stencil(mean_of_two{}, dm::halo_exchange<1, label>(p.w));
#endif
  }
};
auto f(parameters<hybrid>& p, const inputs& x) { return run<step>(p, x); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil looks at neighbours that no rank has fetched.
// expect: at: the tensor carries no halos, so no neighbours; exchange them first, with a width and dims: halo_exchange<1, row, col>(x)
// expect: dim_has_no_halo<batch, hidden>
// levels: 2
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
struct mean_of_two {
  template <class U> auto operator()(const U& u) const {
    return (dm::at<batch>(u, -1) + dm::at<batch>(u, 1)) / 2;
  }
};
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::stencil(mean_of_two{}, x); }
#else
auto f(const matrix& x) { return dm::stencil(mean_of_two{}, dm::halo_exchange<1, batch>(x)); }
#endif

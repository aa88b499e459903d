// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil looks along a dim that the tensor has not.
// expect: at: the tensor lacks this dim; name one of its dims
// expect: dim_not_in_tensor<batch>
// levels: 1
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
struct mean_of_two {
  template <class U> auto operator()(const U& u) const {
    return (dm::at<batch>(u, -1) + dm::at<batch>(u, 1)) / 2;
  }
};
using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& x) { return dm::stencil(mean_of_two{}, x); }
#else
auto f(const matrix& x) { return dm::stencil(mean_of_two{}, dm::halo_exchange<1, batch>(x)); }
#endif

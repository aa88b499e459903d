// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of the neighbours are fetched, not drawn.
// expect: fill: blocks of this dim carry a halo; draw a tensor without it, then halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using matrix =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
#else
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#endif
void f(matrix& x) { dm::fill_bernoulli(x, dm::random_key{1}, 0.5); }

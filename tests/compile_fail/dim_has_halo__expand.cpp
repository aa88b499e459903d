// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of blocks with halos.
// expect: expand: the blocks carry halos; expand before halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/expand.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using matrix =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
#else
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#endif
auto f(const matrix& x) { return dm::expand<label>(x); }

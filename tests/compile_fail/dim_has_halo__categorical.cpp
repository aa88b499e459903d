// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements in halos would be drawn on two ranks.
// expect: categorical: the blocks carry halos; take the tensor without them
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/categorical.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using matrix =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
#else
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#endif
auto f(const matrix& x) { return dm::categorical<hidden>(dm::random_key{1}, x); }

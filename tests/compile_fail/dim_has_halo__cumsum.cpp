// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of the neighbours would be summed too.
// expect: cumsum, cumprod, cummax, cummin, scan, linear_recurrence: blocks of this dim carry a halo, which would count twice; take the tensor without it
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::cumsum_exscan<batch>(x); }
#else
auto f(const matrix& x) { return dm::cumsum_exscan<batch>(x); }
#endif

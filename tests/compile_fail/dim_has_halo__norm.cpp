// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Squares of elements of the neighbours would count, too.
// expect: global_norm: blocks of this dim carry a halo, which would count twice; take the tensor without it
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/clip.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
double f(const haloed& x) { return dm::global_norm(x); }
#else
double f(const matrix& x) { return dm::global_norm(x); }
#endif

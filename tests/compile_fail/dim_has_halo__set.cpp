// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The neighbours' copies of the element would keep their values.
// expect: tensor: blocks of this dim carry a halo, and other ranks a copy of the element; set it before halo_exchange
// expect: dim_has_halo<batch>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using matrix =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
#else
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#endif
void f(matrix& x) { x.set(1, batch{3}, hidden{4}); }

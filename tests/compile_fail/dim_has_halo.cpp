// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of the neighbours would be gathered too.
// expect: whole: the blocks carry halos; gather the tensor before halo_exchange instead
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::whole<batch>(x); }
#else
auto f(const matrix& x) { return dm::whole<batch>(x); }
#endif

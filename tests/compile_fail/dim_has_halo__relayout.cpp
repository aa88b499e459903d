// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks with a halo cannot change their place.
// expect: relayout: blocks with halos stay where they are; change the layout before halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::relayout<whole>(x); }
#else
auto f(const matrix& x) { return dm::relayout<whole>(x); }
#endif

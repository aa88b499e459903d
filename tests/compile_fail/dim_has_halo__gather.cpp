// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks with halos, of which numbers know nothing.
// expect: gather, scatter_add: blocks of this dim carry halos; do it before halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using numbers = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const haloed& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A second halo around the first.
// expect: halo_exchange: the blocks carry a halo along this dim already; exchange once, as wide as needed
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::halo_exchange<1, batch>(x); }
#else
auto f(const matrix& x) { return dm::halo_exchange<2, batch>(x); }
#endif

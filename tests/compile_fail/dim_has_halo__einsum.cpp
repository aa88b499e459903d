// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product that is summed over a dim with halos.
// expect: einsum: blocks of a dim that is summed carry a halo, which would count twice; take the tensor without it
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const haloed& x) { return dm::einsum<hidden>(x, x); }
#else
auto f(const matrix& x) { return dm::einsum<hidden>(x, x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elements of blocks with halos.
// expect: split_into, unstack: the blocks of the dim carry halos; cut it before halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/split_into.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::unstack<batch>(x); }
#else
auto f(const matrix& x) { return dm::unstack<hidden>(x); }
#endif

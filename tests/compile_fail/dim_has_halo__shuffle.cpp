// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order for blocks with halos.
// expect: shuffle: the blocks of the dim carry halos; shuffle it before halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shuffle.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::shuffle<batch>(dm::random_key{1}, x); }
#else
auto f(const matrix& x) { return dm::shuffle<hidden>(dm::random_key{1}, x); }
#endif

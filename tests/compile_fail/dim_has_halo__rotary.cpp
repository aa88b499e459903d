// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Positions of blocks that carry a halo.
// expect: rotary: the operand's blocks carry a halo; take the tensor without it
// expect: dim_has_halo<pixel>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/rotary.hpp>

#include "names.hpp"

using states = dm::tensor<float, by_batch, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const states& x) { return dm::rotary<pixel, hidden>(dm::halo_exchange<1, pixel>(x)); }
#else
auto f(const states& x) { return dm::rotary<pixel, hidden>(x); }
#endif

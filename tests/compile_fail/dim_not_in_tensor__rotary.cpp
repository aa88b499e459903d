// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Positions along a dim that is not there.
// expect: rotary: the tensor lacks this dim, or it is named twice; name the dim of positions and that of the vectors
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/rotary.hpp>

#include "names.hpp"

using states = dm::tensor<float, by_batch, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const states& x) { return dm::rotary<label, hidden>(x); }
#else
auto f(const states& x) { return dm::rotary<pixel, hidden>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gain first, then the tensor.
// expect: layer_norm: a gain or bias has a dim that the tensor lacks; the tensor comes first, and the gain has dims of it: layer_norm<hidden>(x, gain, bias)
// expect: dim_not_in_tensor<batch>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const row& gain) { return dm::layer_norm<hidden>(gain, x); }
#else
auto f(const matrix& x, const row& gain) { return dm::layer_norm<hidden>(x, gain); }
#endif

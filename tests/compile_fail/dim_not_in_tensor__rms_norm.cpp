// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gain with a dim of its own.
// expect: rms_norm: the gain has a dim that the tensor lacks; the tensor comes first, and the gain has dims of it: rms_norm<hidden>(x, gain)
// expect: dim_not_in_tensor<label>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using row = dm::tensor<float, whole, hidden>;
using other = dm::tensor<float, whole, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const other& gain) { return dm::rms_norm<hidden>(x, gain); }
#else
auto f(const matrix& x, const row& gain) { return dm::rms_norm<hidden>(x, gain); }
#endif

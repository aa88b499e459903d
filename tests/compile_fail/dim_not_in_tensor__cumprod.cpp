// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running products along a dim that the tensor lacks.
// expect: cumsum, cumprod, cummax, cummin, scan, linear_recurrence: a tensor lacks this dim; name one of its own, and let both operands of a recurrence have the same
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::cumprod<label>(x); }
#else
auto f(const matrix& x) { return dm::cumprod<hidden>(x); }
#endif

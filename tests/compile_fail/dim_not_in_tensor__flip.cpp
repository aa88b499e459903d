// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim reversed that the tensor lacks.
// expect: flip: the tensor lacks the dim to be reversed; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::flip<label>(x); }
#else
auto f(const matrix& x) { return dm::flip<hidden>(x); }
#endif

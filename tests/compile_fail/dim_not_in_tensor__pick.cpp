// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a dim that the tensor lacks.
// expect: pick: the tensor lacks the dim to be picked from; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::pick<label>(x, 0); }
#else
auto f(const matrix& x) { return dm::pick<hidden>(x, 0); }
#endif

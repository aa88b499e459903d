// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elements of a dim of something else.
// expect: split_into, unstack: the tensor lacks the dim to be cut; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/split_into.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::unstack<label>(x); }
#else
auto f(const matrix& x) { return dm::unstack<hidden>(x); }
#endif

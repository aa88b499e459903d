// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order for a dim of something else.
// expect: shuffle: the tensor lacks the dim to be shuffled; name one of its dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/shuffle.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::shuffle<label>(dm::random_key{1}, x); }
#else
auto f(const matrix& x) { return dm::shuffle<hidden>(dm::random_key{1}, x); }
#endif

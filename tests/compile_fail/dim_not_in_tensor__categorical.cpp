// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes along a dim of something else.
// expect: categorical: the logits lack this dim; name one of their own dims
// expect: dim_not_in_tensor<label>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/categorical.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::categorical<label>(dm::random_key{1}, x); }
#else
auto f(const matrix& x) { return dm::categorical<hidden>(dm::random_key{1}, x); }
#endif

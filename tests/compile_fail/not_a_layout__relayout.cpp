// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A relayout to a type of tensor.
// expect: relayout: a layout stands in the angle brackets, a tensor in the parentheses: relayout<layout<pod, split<batch, rows>>>(x)
// expect: not_a_layout<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::relayout<dm::tensor<float, whole, batch, hidden>>(x); }
#else
auto f(const matrix& x) { return dm::relayout<whole>(x); }
#endif

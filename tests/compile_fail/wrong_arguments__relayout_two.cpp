// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout that the tensor has, too.
// expect: relayout: a layout stands in the angle brackets, a tensor in the parentheses: relayout<layout<pod, split<batch, rows>>>(x)
// expect: wrong_arguments<dimesh::layout<pod
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::relayout<by_batch, whole>(x); }
#else
auto f(const matrix& x) { return dm::relayout<whole>(x); }
#endif

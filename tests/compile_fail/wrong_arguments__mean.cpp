// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A second tensor where one is taken.
// expect: mean: dims stand in the angle brackets, one tensor in the parentheses: mean<batch>(x)
// expect: wrong_arguments<dimesh::basic_tensor<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::mean<hidden>(x, x); }
#else
auto f(const matrix& x) { return dm::mean<hidden>(x * x); }
#endif

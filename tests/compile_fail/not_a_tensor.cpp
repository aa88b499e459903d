// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim among the arguments.
// expect: sum: dims stand in the angle brackets, one tensor in the parentheses: sum<batch>(x)
// expect: not_a_tensor<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sum(x, batch{}); }
#else
auto f(const matrix& x) { return dm::sum<batch>(x); }
#endif

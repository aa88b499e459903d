// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over an axis.
// expect: sum: dims stand in the angle brackets, one tensor in the parentheses: sum<batch>(x)
// expect: not_a_dim<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sum<rows>(x); }
#else
auto f(const matrix& x) { return dm::sum<batch>(x); }
#endif

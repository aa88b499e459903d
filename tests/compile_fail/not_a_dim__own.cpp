// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dim and axis in the other order.
// expect: own: a dim and an axis stand in the angle brackets, a tensor in the parentheses: own<batch, rows>(x)
// expect: not_a_dim<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::own<cols, hidden>(x); }
#else
auto f(const matrix& x) { return dm::own<hidden, cols>(x); }
#endif

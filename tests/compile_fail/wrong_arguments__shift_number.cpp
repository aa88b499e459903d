// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The distance before the dim, in the angle brackets.
// expect: shift: a dim stands in the angle brackets, the tensor and how far in the parentheses: shift<time>(x, 1)
// expect: wrong_arguments<std::integral_constant<long
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::shift<1, hidden>(x); }
#else
auto f(const matrix& x) { return dm::shift<hidden>(x, 1); }
#endif

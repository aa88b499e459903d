// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gamma numbers in whole ones.
// expect: fill: the elements are whole numbers, and the numbers drawn have fractions; draw a tensor of float or double
// expect: fraction_cut<double, int>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using matrix = dm::tensor<int, by_batch, batch, hidden>;
#else
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#endif
void f(matrix& x) { dm::fill_gamma(x, dm::random_key{1}, 2, 1); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fraction for whole numbers.
// expect: fill: the elements are whole numbers, and a fraction would be cut; round it, or let the tensor have fractions
// expect: fraction_cut<double, int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using counts = dm::tensor<int, whole, hidden>;
#ifdef COMPILE_FAIL
void f(counts& x) { dm::fill(x, 0.5); }
#else
void f(counts& x) { dm::fill(x, 1); }
#endif

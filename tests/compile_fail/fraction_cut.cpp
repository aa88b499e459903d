// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fractions for a tensor of whole numbers.
// expect: fill_by: the elements are whole numbers, and the function's fractions would be cut; round them, or let the tensor have fractions
// expect: fraction_cut<double, int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using counts = dm::tensor<int, whole, hidden>;
#ifdef COMPILE_FAIL
void f(counts& x) {
  dm::fill_by(x, [](auto i) { return 0.5 * i; });
}
#else
void f(counts& x) {
  dm::fill_by(x, [](auto i) { return i / 2; });
}
#endif

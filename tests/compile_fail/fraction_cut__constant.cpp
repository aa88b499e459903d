// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A fraction for whole numbers, by constant.
// expect: constant: the elements are whole numbers, and a fraction would be cut; round it, or let the tensor have fractions
// expect: fraction_cut<double, int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using counts = dm::tensor<int, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::constant<counts>(g, 0.5); }
#else
auto f(const dm::grid<pod>& g) { return dm::constant<counts>(g, 1); }
#endif

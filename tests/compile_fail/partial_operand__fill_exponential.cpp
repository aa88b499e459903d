// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers for a maximum yet to be found.
// expect: fill: the layout is that of a maximum yet to be found; draw a tensor of another layout
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using matrix = dm::tensor<float, dm::layout<pod, dm::partial_max<cols>>, batch, hidden>;
#else
using matrix = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#endif
void f(matrix& x) { dm::fill_exponential(x, dm::random_key{1}, 2); }

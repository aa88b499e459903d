// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of a sum is not the sum of the functions.
// expect: relu: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::relu(x); }
#else
auto f(const addends& x) { return dm::relu(dm::complete(x)); }
#endif

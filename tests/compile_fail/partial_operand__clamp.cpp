// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends within bounds, of which the sum is not.
// expect: clamp: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::clamp(x, 0.0, 1.0); }
#else
auto f(const addends& x) { return dm::clamp(dm::complete(x), 0.0, 1.0); }
#endif

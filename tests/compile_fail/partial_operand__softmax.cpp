// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shares of sums yet to be made.
// expect: softmax: the operand is a sum yet to be made; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::softmax<hidden>(x); }
#else
auto f(const addends& x) { return dm::softmax<hidden>(dm::complete(x)); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounded addends do not add up to the rounded sum.
// expect: cast: the operand is a sum yet to be made
// expect: complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::cast<int>(x); }
#else
auto f(const addends& x) { return dm::cast<int>(dm::complete(x)); }
#endif

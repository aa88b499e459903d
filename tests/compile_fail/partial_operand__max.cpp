// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The greatest of sums yet to be made.
// expect: max: the operand is a sum yet to be made
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::max<hidden>(x); }
#else
auto f(const addends& x) { return dm::max<hidden>(dm::complete(x)); }
#endif

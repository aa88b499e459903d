// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum yet to be made is compared with a number.
// expect: operator>: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return x > 0; }
#else
auto f(const addends& x) { return dm::complete(x) > 0; }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum yet to be made as the denominator.
// expect: operator/: the denominator is a sum yet to be made; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const addends& y) { return x / y; }
#else
auto f(const matrix& x, const addends& y) { return x / dm::complete(y); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A replicated tensor minus a sum yet to be made.
// expect: operator-: one operand is a sum yet to be made, the other is not and would be counted once per rank; complete the first
// expect: partial_meets_replicated<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const addends& y) { return x - y; }
#else
auto f(const matrix& x, const addends& y) { return x - dm::complete(y); }
#endif

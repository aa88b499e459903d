// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bias is added to every addend of a sum.
// expect: operator+: one operand is a sum yet to be made, the other is not and would be counted once per rank; complete the first
// expect: partial_meets_replicated<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using bias = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x, const bias& b) { return x + b; }
#else
auto f(const addends& x, const bias& b) { return dm::complete(x) + b; }
#endif

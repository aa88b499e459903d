// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One axis splits the one operand and holds addends of the other.
// expect: operator*: one operand is a sum yet to be made along an axis that splits the other; complete it first
// expect: partial_meets_split<rows, batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, hidden>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const addends& y) { return x * y; }
#else
auto f(const matrix& x, const addends& y) { return x * dm::complete(y); }
#endif

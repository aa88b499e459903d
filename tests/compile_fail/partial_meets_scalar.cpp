// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number is added to every addend of a sum.
// expect: operator+: a number beside a sum yet to be made would be counted once per rank; complete it first
// expect: partial_meets_scalar<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return 1 + x; }
#else
auto f(const addends& x) { return 1 + dm::complete(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number is taken from every addend of a sum.
// expect: operator-: a number beside a sum yet to be made would be counted once per rank; complete it first
// expect: partial_meets_scalar<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return x - 0.5; }
#else
auto f(const addends& x) { return dm::complete(x) - 0.5; }
#endif

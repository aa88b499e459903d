// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The greatest so far of addends.
// expect: cumprod, cummax, cummin, scan, linear_recurrence: an operand is a sum yet to be made (of a cumsum: an extreme); complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::cummax<hidden>(x); }
#else
auto f(const addends& x) { return dm::cummax<hidden>(dm::complete(x)); }
#endif

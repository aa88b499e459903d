// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of sums is not the sum of products.
// expect: operator*: both operands are sums yet to be made; complete one of them first
// expect: both_operands_partial<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x, const addends& y) { return x * y; }
#else
auto f(const addends& x, const addends& y) { return x * dm::complete(y); }
#endif

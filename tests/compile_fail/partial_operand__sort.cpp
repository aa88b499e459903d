// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorted addends.
// expect: sort, argsort, top_k, nth_largest, nth_smallest: the operand is a sum yet to be made; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/sort.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::sort<hidden>(x); }
#else
auto f(const addends& x) { return dm::sort<hidden>(dm::complete(x)); }
#endif

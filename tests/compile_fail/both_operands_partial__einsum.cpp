// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A contraction of sums is not the sum of contractions.
// expect: einsum: two operands are sums yet to be made; complete one of them first
// expect: both_operands_partial<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using weights = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const addends& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#else
auto f(const addends& x, const weights& w) { return dm::einsum<batch, label>(dm::complete(x), w); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truths that are split, and others that are not.
// expect: logical_and, logical_or, logical_xor: the operands do not fit; complete what is partial, relayout what is split differently
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include "names.hpp"

using truths = dm::tensor<bool, by_batch, batch, hidden>;
using all = dm::tensor<bool, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const truths& x, const all& y) { return dm::logical_and(x, y); }
#else
auto f(const truths& x, const all& y) { return dm::logical_and(x, dm::own<batch, rows>(y)); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recurrence whose factors are split and whose terms are not.
// expect: linear_recurrence: the operands lie on the ranks differently; relayout one of them to the other's layout
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using all = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& a, const all& b) { return dm::linear_recurrence<hidden>(a, b); }
#else
auto f(const matrix& a, const matrix& b) { return dm::linear_recurrence<hidden>(a, b); }
#endif

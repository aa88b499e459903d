// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors split differently stacked.
// expect: concat, stack: the operands are split differently; relayout one of them
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using copy = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const copy& y) { return dm::stack<two>(x, y); }
#else
auto f(const matrix& x, const copy& y) { return dm::stack<two>(x, dm::own<batch, rows>(y)); }
#endif

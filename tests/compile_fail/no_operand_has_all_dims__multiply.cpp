// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of `*` that each lack a dim, and what is said where they are split alike, too.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
using targets = dm::tensor<float, whole, label>;
using by_rows = dm::layout<pod, dm::split<batch, rows>, dm::split<label, rows>>;
using left = dm::tensor<float, by_rows, batch, hidden>;
using right = dm::tensor<float, by_rows, hidden, label>;

// mistake: no_operand_has_all_dims__multiply
// expect: operator*: each operand lacks a dim of the other, so the result would have all pairs; rename one, or say einsum<m, n>(x, y) of matrices, outer(x, y) of pairs
// expect: no_operand_has_all_dims<label, hidden>
#ifdef COMPILE_FAIL
auto f(const row& y, const targets& t) { return y * t; }
#else
auto f(const row& y, const row& t) { return y * t; }
#endif

// mistake: no_operand_has_all_dims__multiply_matrices
// expect: operator*: each operand lacks a dim of the other, so the result would have all pairs; rename one, or say einsum<m, n>(x, y) of matrices, outer(x, y) of pairs
// expect: no_operand_has_all_dims<label, batch>
#ifdef COMPILE_FAIL
auto f(const left& x, const right& y) { return x * y; }
#else
auto f(const left& x, const right& y) { return dm::einsum<batch, label>(x, dm::whole<label>(y)); }
#endif

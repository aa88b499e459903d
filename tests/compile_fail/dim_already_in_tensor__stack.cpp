// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A new dim that the operands have.
// expect: concat, stack: an operand has the new dim already; choose another name
// expect: dim_already_in_tensor<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::stack<hidden>(x, x); }
#else
auto f(const matrix& x) { return dm::stack<two>(x, x); }
#endif

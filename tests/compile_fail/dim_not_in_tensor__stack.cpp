// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of other dims stacked.
// expect: concat, stack: an operand lacks a dim that another has; all have the same dims but for the one that is joined
// expect: dim_not_in_tensor<hidden>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>
#include <dimesh/op/slice.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using column = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const column& y) { return dm::stack<two>(x, y); }
#else
auto f(const matrix& x, const column& y) { return dm::stack<two>(dm::pick<hidden>(x, 0), y); }
#endif

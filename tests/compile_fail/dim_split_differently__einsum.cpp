// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in a contraction.
// expect: einsum: the operands split a dim in different ways; relayout one of them
// expect: dim_split_differently<wide>
// expect: relayout_operand<2,
// expect: received_bytes<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct wide : dm::dim<16> {};
using one_way = dm::tensor<float, dm::layout<pod, dm::split<wide, rows, cols>>, batch, wide>;
#ifdef COMPILE_FAIL
using other_way = dm::tensor<float, dm::layout<pod, dm::split<wide, cols, rows>>, wide, label>;
#else
using other_way = dm::tensor<float, dm::layout<pod, dm::split<wide, rows, cols>>, wide, label>;
#endif
auto f(const one_way& x, const other_way& y) { return dm::einsum<batch, label>(x, y); }

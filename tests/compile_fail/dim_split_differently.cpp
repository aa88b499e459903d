// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two axes cut a dim in different orders.
// expect: operator+: the operands are split differently; relayout one of them
// expect: dim_split_differently<wide>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct wide : dm::dim<16> {};
using one_way = dm::tensor<float, dm::layout<pod, dm::split<wide, rows, cols>>, batch, wide>;
#ifdef COMPILE_FAIL
using other_way = dm::tensor<float, dm::layout<pod, dm::split<wide, cols, rows>>, wide>;
#else
using other_way = dm::tensor<float, dm::layout<pod, dm::split<wide, rows, cols>>, wide>;
#endif
auto f(const one_way& x, const other_way& y) { return x + y; }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of ceil(n/p) meet blocks of lengths that only the run knows.
// expect: operator+: the operands are split differently; relayout one of them
// expect: dim_split_differently<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct three : dm::axis<3> {};
struct odd : dm::mesh<three> {};
using by_table = dm::tensor<float, dm::layout<odd, dm::split<dm::ragged<batch>, three>>, batch>;
#ifdef COMPILE_FAIL
using other = dm::tensor<float, dm::layout<odd, dm::split<dm::uneven<batch>, three>>, batch>;
#else
using other = by_table;
#endif
auto f(const by_table& x, const other& y) { return x + y; }

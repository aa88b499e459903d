// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two arguments of which the second is no grid.
// expect: relayout: the second argument is a grid of the layout's mesh; its sizes without ranks will do for shapes alone
// expect: wrong_arguments<int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::relayout<by_batch>(x, 2); }
#else
auto f(const vector& x) { return dm::relayout<by_batch>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data live on ranks; the sizes of a mesh have none.
// expect: relayout: the second argument is a grid of the layout's mesh; its sizes without ranks will do for shapes alone
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::relayout<elsewhere>(x, dm::mesh_sizes<row>{}); }
#else
auto f(const vector& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#endif

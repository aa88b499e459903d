// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout is for one mesh, the grid of another.
// expect: relayout: the layout is for one mesh, and the grid is of another; name a layout of the grid's mesh, or the other grid
// expect: meshes_differ<row, pod>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x, const dm::grid<pod>& g) { return dm::relayout<elsewhere>(x, g); }
#else
auto f(const vector& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#endif

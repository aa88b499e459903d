// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No addends come to be on the way to another mesh.
// expect: relayout: the layout asks for addends, which are those of the axes of one mesh, and summed on the way to another; name a layout that splits or replicates there
// expect: axis_not_partial<line>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::partial<line>>;
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#else
auto f(const vector& x, const dm::grid<row>& g) { return dm::relayout<dm::layout<row>>(x, g); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rule names an axis of the mesh that the tensor comes from.
// expect: relayout: the rules of the new layout do not agree: axes must be in its mesh and do one thing each, dims have one rule; mend the layout
// expect: axis_not_in_mesh<rows, row>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x, const dm::grid<row>& g) {
  return dm::relayout<dm::layout<row, dm::split<batch, rows>>>(x, g);
}
#else
auto f(const vector& x, const dm::grid<row>& g) {
  return dm::relayout<dm::layout<row, dm::split<batch, line>>>(x, g);
}
#endif

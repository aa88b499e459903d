// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends stay on their mesh.
// expect: relayout: the tensor holds addends (or maxima) along an axis of its mesh, which stay there; complete it first, or reduce_scatter it over a dim
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch>;
#ifdef COMPILE_FAIL
auto f(const addends& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#else
auto f(const addends& x, const dm::grid<row>& g) {
  return dm::relayout<elsewhere>(dm::complete(x), g);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima of parts cannot go to another mesh.
// expect: relayout: the tensor holds maxima or minima of parts along this axis; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using maxima = dm::tensor<float, dm::layout<pod, dm::partial_max<cols>>, batch>;
#ifdef COMPILE_FAIL
auto f(const maxima& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#else
auto f(const maxima& x, const dm::grid<row>& g) {
  return dm::relayout<elsewhere>(dm::complete(x), g);
}
#endif

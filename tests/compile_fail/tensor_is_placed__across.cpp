// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of one stage moved to another mesh.
// expect: relayout: what lives at one place of an axis stays on its mesh; broadcast<axis> it first, and place<axis, k> it on the other mesh afterwards
// expect: tensor_is_placed<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct owner : dm::axis<4> {};
struct experts : dm::mesh<owner> {};
using there = dm::layout<experts, dm::split<batch, owner>>;
using matrix = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const dm::grid<experts>& g) { return dm::relayout<there>(x, g); }
#else
auto f(const matrix& x, const dm::grid<experts>& g) {
  return dm::relayout<there>(dm::broadcast<rows>(x), g);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two dims of a sum by name would be split over one axis.
// expect: operator+: the operands are split differently; relayout one of them
// expect: dims_share_mesh_axis<batch, hidden, rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
auto f(const dm::tensor<float, layout, batch>& x, const dm::tensor<float, layout, hidden>& b) {
#ifdef COMPILE_FAIL
  return x + b;
#else
  return dm::outer(x, dm::whole<hidden>(b));
#endif
}

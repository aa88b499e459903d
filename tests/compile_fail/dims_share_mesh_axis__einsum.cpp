// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two dims of a product would be split over one axis.
// expect: einsum: two dims are split over the same mesh axis; split one of them over another axis, or gather it with whole<dim>
// expect: dims_share_mesh_axis<batch, hidden, rows>
// expect: relayout_operand<2,
// expect: received_bytes<144>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif
auto f(const dm::tensor<float, layout, batch, pixel>& x,
       const dm::tensor<float, layout, pixel, hidden>& w) {
  return dm::einsum<batch, hidden>(x, w);
}

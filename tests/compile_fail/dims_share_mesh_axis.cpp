// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout splits two dims of one tensor over one axis.
// expect: tensor: two dims are split over the same mesh axis; split one of them over another axis, or not at all
// expect: dims_share_mesh_axis<batch, hidden, rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif
dm::tensor<float, layout, batch, hidden> x;

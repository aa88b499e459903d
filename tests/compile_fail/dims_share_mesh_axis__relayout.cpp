// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The new layout splits two dims over one axis.
// expect: relayout: the rules of the new layout do not agree
// expect: dims_share_mesh_axis<batch, hidden, rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
#endif
auto f(const matrix& x) { return dm::relayout<layout>(x); }

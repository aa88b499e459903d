// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh that lists an axis twice.
// expect: mesh: an axis stands twice in one mesh; give each axis a name of its own
// expect: axis_repeated<rows>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
struct square : dm::mesh<rows, rows> {};
dm::tensor<float, dm::layout<square, dm::split<batch, rows>>, batch> x;
#else
struct square : dm::mesh<rows, cols> {};
dm::tensor<float, dm::layout<square, dm::split<batch, rows>>, batch> x;
#endif

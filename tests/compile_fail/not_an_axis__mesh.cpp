// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh that lists a dim.
// expect: mesh: a mesh lists axes; derive this one from axis<size>
// expect: not_an_axis<batch>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
struct wrong : dm::mesh<rows, batch> {};
dm::tensor<float, dm::layout<wrong, dm::split<batch, rows>>, batch> x;
#else
struct right : dm::mesh<rows, cols> {};
dm::tensor<float, dm::layout<right, dm::split<batch, rows>>, batch> x;
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same where the axis is to split another dim.
// expect: all_to_all: another axis cuts the blocks of this one; move that axis first, or use relayout
// expect: axis_not_innermost_of_dim<batch, rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, dm::layout<pod, dm::split<batch, rows, cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::all_to_all<batch, hidden, rows>(x); }
#else
auto f(const matrix& x) { return dm::all_to_all<batch, hidden, cols>(x); }
#endif

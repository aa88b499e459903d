// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blocks along this axis are cut further by another.
// expect: all_gather: another axis cuts the blocks of this one; gather over that axis first, or use whole<dim>
// expect: axis_not_innermost_of_dim<batch, rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, dm::layout<pod, dm::split<batch, rows, cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::all_gather<rows>(x); }
#else
auto f(const matrix& x) { return dm::all_gather<cols>(x); }
#endif

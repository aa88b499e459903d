// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gather along an axis that splits nothing.
// expect: all_gather: the axis splits no dim of the tensor; name one that does, or use whole<dim>
// expect: axis_splits_nothing<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::all_gather<cols>(x); }
#else
auto f(const matrix& x) { return dm::all_gather<rows>(x); }
#endif

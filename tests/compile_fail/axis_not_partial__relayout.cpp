// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout asks for addends where there are none.
// expect: relayout: the layout asks for addends where the tensor has none; name a layout that splits or replicates there
// expect: axis_not_partial<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::relayout<dm::layout<pod, dm::partial<cols>>>(x); }
#else
auto f(const matrix& x) { return dm::relayout<hybrid>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Half a sum along an axis where there are no addends.
// expect: reduce_scatter: the tensor holds no addends along this axis; use own where it is replicated
// expect: axis_not_partial<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::reduce_scatter<batch, rows>(x); }
#else
auto f(const addends& x) { return dm::reduce_scatter<batch, cols>(x); }
#endif

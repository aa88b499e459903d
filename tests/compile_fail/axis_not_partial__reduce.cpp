// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No addends to be summed at a place.
// expect: reduce: the tensor holds no addends along this axis; place<axis, k> what is replicated, or name an axis that it is partial along
// expect: axis_not_partial<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using copy = dm::tensor<float, whole, batch, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
struct stage : dm::axis<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::reduce<cols, 0>(x); }
#else
auto f(const addends& x) { return dm::reduce<rows, 0>(x); }
#endif

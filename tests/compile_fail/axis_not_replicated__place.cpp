// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A split tensor placed.
// expect: place: the tensor is not replicated along this axis; use send<axis, k> where it has a place, reduce<axis, k> where it is partial, and relayout where it is split
// expect: axis_not_replicated<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using copy = dm::tensor<float, whole, batch, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
struct stage : dm::axis<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::place<rows, 0>(x); }
#else
auto f(const matrix& x) { return dm::place<rows, 0>(dm::whole<batch>(x)); }
#endif

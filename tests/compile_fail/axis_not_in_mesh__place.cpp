// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A place on an axis that the mesh lacks.
// expect: place: the tensor's mesh lacks this axis; name one that the tensor is replicated along
// expect: axis_not_in_mesh<stage
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using copy = dm::tensor<float, whole, batch, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
struct stage : dm::axis<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const copy& x) { return dm::place<stage, 0>(x); }
#else
auto f(const copy& x) { return dm::place<rows, 0>(x); }
#endif

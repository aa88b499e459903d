// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor sent along an axis that the mesh lacks.
// expect: send: the tensor's mesh lacks this axis; name one along which the tensor has a place
// expect: axis_not_in_mesh<stage
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct stage : dm::axis<2> {};
using first = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, hidden>;
using second = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const first& x) { return dm::send<stage, 1>(x); }
#else
auto f(const first& x) { return dm::send<rows, 1>(x); }
#endif

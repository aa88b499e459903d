// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An axis of another mesh is to be summed over.
// expect: all_reduce: the tensor's mesh lacks this axis; name one that the tensor is partial along
// expect: axis_not_in_mesh<depth, pod>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::all_reduce<depth>(x); }
#else
auto f(const addends& x) { return dm::all_reduce<rows>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An axis of another mesh is to split a dim.
// expect: own: the tensor's mesh lacks this axis; name one that the tensor is replicated along
// expect: axis_not_in_mesh<depth, pod>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::own<batch, depth>(x); }
#else
auto f(const vector& x) { return dm::own<batch, rows>(x); }
#endif

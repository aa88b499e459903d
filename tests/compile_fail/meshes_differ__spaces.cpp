// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in two memories do not meet.
// expect: operator+: the operands live on different meshes
// expect: meshes_differ<pod, near>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct near : dm::mesh<rows, cols> {
  using space = dm::host_space;
};
using vector = dm::tensor<float, whole, batch>;
using near_vector = dm::tensor<float, dm::layout<near>, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x, const near_vector& y) { return x + y; }
#else
auto f(const vector& x, const near_vector& y) { return x + dm::to_space(y, x.grid()); }
#endif

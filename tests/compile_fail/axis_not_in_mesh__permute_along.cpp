// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks exchanged along an axis that the mesh lacks.
// expect: permute_along: the tensor's mesh lacks this axis; name one that splits a dim of the tensor
// expect: axis_not_in_mesh<stage
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using copy = dm::tensor<float, whole, batch, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch, hidden>;
struct stage : dm::axis<2> {};
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::permute_along<stage>(x, [](dm::index_t i) { return 1 - i; });
}
#else
auto f(const matrix& x) {
  return dm::permute_along<rows>(x, [](dm::index_t i) { return 1 - i; });
}
#endif

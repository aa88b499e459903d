// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranks that split the elements split their numbers, too.
// expect: gather, scatter_add: one mesh axis splits a dim of the elements and one of the numbers; gather one of them with whole<dim>
// expect: dims_share_mesh_axis<hidden, label, cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, hybrid, batch, hidden>;
using tiles = dm::layout<pod, dm::split<batch, rows>, dm::split<label, cols>>;
using numbers = dm::tensor<int, tiles, batch, label>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const numbers& ids) { return dm::gather<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const numbers& ids) {
  return dm::gather<hidden, label>(x, dm::whole<label>(ids));
}
#endif

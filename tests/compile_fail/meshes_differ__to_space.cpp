// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks are copied between meshes of the same axes.
// expect: to_space: the grid's mesh has other axes than the tensor's; list the same ones in both, or relayout<layout>(x, grid)
// expect: meshes_differ<pod, row>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {
  using space = dm::host_space;
};
struct near : dm::mesh<rows, cols> {
  using space = dm::host_space;
};
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x, const dm::grid<row>& g) { return dm::to_space(x, g); }
#else
auto f(const vector& x, const dm::grid<near>& g) { return dm::to_space(x, g); }
#endif

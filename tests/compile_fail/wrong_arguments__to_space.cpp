// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data live on ranks; the sizes of a mesh have none.
// expect: to_space: the second argument is the grid of a mesh in the other space; its sizes without ranks will do for shapes alone
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct near : dm::mesh<rows, cols> {
  using space = dm::host_space;
};
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::to_space(x, dm::mesh_sizes<near>()); }
#else
auto f(const dm::tensor<float, dm::shaped<whole>, batch>& x) {
  return dm::to_space(x, dm::mesh_sizes<near>());
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct over two meshes, and one grid.
// expect: make: a tensor lives on a mesh of which there is no grid; name it, too: make<S>(grids(g, h))
// expect: mesh_without_grid<expert_mesh>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct owners : dm::axis<2> {};
struct copies : dm::axis<2> {};
struct expert_mesh : dm::mesh<owners> {};
struct copy_mesh : dm::mesh<copies> {};
template <class L, class K> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, pixel, hidden>, w),
                           (dm::tensor<float, K, hidden>, e));
};
using net = network<dm::layout<pod>, dm::layout<expert_mesh, dm::split<hidden, owners>>>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g, const dm::grid<copy_mesh>& h) {
  return dm::make<net>(dm::grids(g, h));
}
#else
auto f(const dm::grid<pod>& g, const dm::grid<expert_mesh>& h) {
  return dm::make<net>(dm::grids(g, h));
}
#endif

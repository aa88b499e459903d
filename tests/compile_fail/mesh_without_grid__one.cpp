// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor of one mesh, the grid of another.
// expect: make: a tensor lives on a mesh of which there is no grid; name it, too: make<S>(grids(g, h))
// expect: mesh_without_grid<pod>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using vector = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<row>& g) { return dm::zeros<vector>(g); }
#else
auto f(const dm::grid<pod>& g) { return dm::zeros<vector>(g); }
#endif

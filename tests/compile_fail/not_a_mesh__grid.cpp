// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A grid of a layout.
// expect: grid: a grid is that of a mesh; name a struct that derives from mesh<axes...>
// expect: not_a_mesh<dimesh::layout<pod
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
int f(const dm::grid<by_batch>& g) { return g.rank(); }
#else
int f(const dm::grid<pod>& g) { return g.rank(); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The size of an axis of another mesh.
// expect: grid: this axis is not in the mesh; add it to the mesh, or name one of its own
// expect: axis_not_in_mesh<depth, pod>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return g.size<depth>(); }
#else
auto f(const dm::grid<pod>& g) { return g.size<cols>(); }
#endif

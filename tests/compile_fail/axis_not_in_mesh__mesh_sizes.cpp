// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of a mesh by the axis of another one.
// expect: mesh_sizes: this axis is not in the mesh; add it there
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct ranks : dm::axis<> {};
struct elsewhere : dm::axis<> {};
struct line : dm::mesh<ranks> {};
#ifdef COMPILE_FAIL
dm::mesh_sizes<line> f() { return dm::mesh_sizes<line>(elsewhere{2}); }
#else
dm::mesh_sizes<line> f() { return dm::mesh_sizes<line>(ranks{2}); }
#endif

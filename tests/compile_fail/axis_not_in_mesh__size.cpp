// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The size of an axis of another mesh. (COORD, ALONG: of other calls; clang shows the macro, too.)
// expect: grid: this axis is not in the mesh; add it to the mesh, or name one of its own
// expect: axis_not_in_mesh<depth, pod>
// lines: 14
// also: COORD
// also: ALONG
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
#if defined(COORD)
#define ASKED(axis) coord<axis>()
#elif defined(ALONG)
#define ASKED(axis) along<axis>()
#else
#define ASKED(axis) size<axis>()
#endif
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return g.ASKED(depth); }
#else
auto f(const dm::grid<pod>& g) { return g.ASKED(cols); }
#endif

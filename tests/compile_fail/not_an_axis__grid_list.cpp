// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes as a list of numbers.
// expect: grid: an axis is wanted here; name one of the mesh, and give sizes as cols{4}
// expect: not_an_axis<int>
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct many : dm::axis<> {};
struct open_pod : dm::mesh<rows, many> {};
#ifdef COMPILE_FAIL
int f() { return dm::grid<open_pod>({2, 4}).rank(); }
#else
int f() { return dm::grid<open_pod>(many{4}).rank(); }
#endif

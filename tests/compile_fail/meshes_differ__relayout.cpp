// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout for another mesh.
// expect: relayout: the layout is for another mesh than the tensor's; name a layout of its mesh
// expect: meshes_differ<row, pod>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using vector = dm::tensor<float, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x) { return dm::relayout<elsewhere>(x); }
#else
auto f(const vector& x) { return dm::relayout<by_batch>(x); }
#endif

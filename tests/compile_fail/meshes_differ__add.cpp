// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of a sum live on different meshes.
// expect: operator+: the operands live on different meshes; put them on one
// expect: meshes_differ<pod, row>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using vector = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const vector& x, const dm::tensor<float, elsewhere, batch>& y) { return x + y; }
#else
auto f(const vector& x, const dm::tensor<float, by_batch, batch>& y) { return x + y; }
#endif

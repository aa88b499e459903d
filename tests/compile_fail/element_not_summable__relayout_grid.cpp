// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truth values that are to be added up on the way to another mesh.
// expect: relayout: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<hidden, line>>;
using sums = dm::layout<pod, dm::partial<rows>>;
#ifdef COMPILE_FAIL
using found = dm::tensor<bool, sums, hidden>;
#else
using found = dm::tensor<int, sums, hidden>;
#endif
auto f(const found& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }

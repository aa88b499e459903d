// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks with halos do not go to another mesh.
// expect: relayout: blocks with halos stay where they are; relayout before halo_exchange
// expect: dim_has_halo<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using haloed = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch>;
using vector = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const haloed& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#else
auto f(const vector& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#endif

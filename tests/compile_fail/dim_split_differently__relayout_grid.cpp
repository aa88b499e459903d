// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose lengths only the run knows do not go to another mesh.
// expect: relayout: blocks whose lengths only the run knows stay on their mesh; relayout them to split<dim> or split<uneven<dim>> there first, without cuts on the other
// expect: dim_split_differently<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

struct line : dm::axis<2> {};
struct row : dm::mesh<line> {};
using elsewhere = dm::layout<row, dm::split<batch, line>>;
using by_table = dm::tensor<float, dm::layout<pod, dm::split<dm::ragged<batch>, rows>>, batch>;
using vector = dm::tensor<float, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const by_table& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#else
auto f(const vector& x, const dm::grid<row>& g) { return dm::relayout<elsewhere>(x, g); }
#endif

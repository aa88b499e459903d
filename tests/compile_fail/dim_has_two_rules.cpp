// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim over two axes is one rule, not two.
// expect: tensor: the layout has two rules for one dim; write one split<dim, axis, axis...>
// expect: dim_has_two_rules<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::split<batch, cols>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows, cols>>;
#endif
dm::tensor<float, layout, batch, hidden> x;

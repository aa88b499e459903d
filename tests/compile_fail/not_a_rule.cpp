// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim among the rules of a layout.
// expect: tensor: a layout lists rules, and this is none; write split<dim, axis>, partial<axis> or spread<axis>
// expect: not_a_rule<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, batch, rows>;
dm::tensor<float, layout, batch, hidden> x;
#else
using layout = dm::layout<pod, dm::split<batch, rows>>;
dm::tensor<float, layout, batch, hidden> x;
#endif

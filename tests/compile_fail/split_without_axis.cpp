// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A split over no axis splits nothing.
// expect: tensor: a rule of the layout splits a dim over no axis; write split<dim, axis>
// expect: split_without_axis<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch>>;
dm::tensor<float, layout, batch, hidden> x;
#else
using layout = dm::layout<pod, dm::split<batch, rows>>;
dm::tensor<float, layout, batch, hidden> x;
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim where a rule names its axis.
// expect: tensor: an axis is wanted here, as in split<dim, axis> and partial<axis>; name a struct that derives from axis<size>
// expect: not_an_axis<batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using sums = dm::layout<pod, dm::partial<batch>>;
dm::tensor<float, sums, batch, hidden> x;
#else
using sums = dm::layout<pod, dm::partial<rows>>;
dm::tensor<float, sums, batch, hidden> x;
#endif

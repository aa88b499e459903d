// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The third of two stages.
// expect: tensor: the layout places the tensor where this axis has no rank; name a coordinate from 0 to its size - 1
// expect: place_not_on_axis<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using last = dm::layout<pod, dm::placed<rows, 2>>;
#else
using last = dm::layout<pod, dm::placed<rows, 1>>;
#endif
dm::tensor<float, last, hidden> x;

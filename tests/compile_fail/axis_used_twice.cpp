// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One axis is to split a dim and to hold addends.
// expect: tensor: two rules of the layout use one mesh axis; an axis does one thing: drop one rule
// expect: axis_used_twice<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<batch, rows>, dm::partial<rows>>;
#else
using layout = dm::layout<pod, dm::split<batch, rows>, dm::partial<cols>>;
#endif
dm::tensor<float, layout, batch, hidden> x;

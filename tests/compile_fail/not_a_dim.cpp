// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An axis where a rule names its dim.
// expect: tensor: a dim is wanted here, in the tensor or in split<dim, axis>; name a struct that derives from dim<extent>
// expect: not_a_dim<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

#ifdef COMPILE_FAIL
using layout = dm::layout<pod, dm::split<rows, batch>>;
dm::tensor<float, layout, batch, hidden> x;
#else
using layout = dm::layout<pod, dm::split<batch, rows>>;
dm::tensor<float, layout, batch, hidden> x;
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum along an axis where there are no addends.
// expect: all_reduce: the tensor holds no addends along this axis; name one that it is partial along, or use complete, which sums whatever is partial
// expect: axis_not_partial<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::all_reduce<rows>(x); }
#else
auto f(const addends& x) { return dm::all_reduce<cols>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truth values that are to be added up.
// expect: complete: ranks cannot add up elements of this type; cast the tensor first
// expect: element_not_summable<bool>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using sums = dm::layout<pod, dm::partial<rows>>;
#ifdef COMPILE_FAIL
using found = dm::tensor<bool, sums, hidden>;
#else
using found = dm::tensor<int, sums, hidden>;
#endif
auto f(const found& x) { return dm::complete(x); }

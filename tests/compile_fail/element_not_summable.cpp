// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A struct whose truth values are to be added up.
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
using losses = dm::tensor<float, sums>;
auto f(const found& x, const losses& loss) { return dm::complete(std::tuple(x, loss)); }

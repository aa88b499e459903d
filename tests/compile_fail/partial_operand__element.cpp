// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a sum that is yet to be made.
// expect: tensor: ranks hold addends along this axis, and no element; complete it first
// expect: partial_operand<rows>
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::sum<batch>(x).at(hidden{4}); }
#else
auto f(const matrix& x) { return dm::complete(dm::sum<batch>(x)).at(hidden{4}); }
#endif

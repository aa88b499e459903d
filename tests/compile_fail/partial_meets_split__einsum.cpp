// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same in a contraction.
// expect: einsum: an operand is a sum yet to be made along an axis that splits the other; complete it first
// expect: partial_meets_split<rows, batch>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, hidden, label>;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const addends& y) { return dm::einsum<batch, label>(x, y); }
#else
auto f(const matrix& x, const addends& y) { return dm::einsum<batch, label>(x, dm::complete(y)); }
#endif

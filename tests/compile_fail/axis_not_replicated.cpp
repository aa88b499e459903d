// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An own block along an axis that splits another dim already.
// expect: own: the tensor is not replicated along this axis; use reduce_scatter where it is partial, all_to_all where the axis splits another dim
// expect: axis_not_replicated<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::own<hidden, rows>(x); }
#else
auto f(const matrix& x) { return dm::own<hidden, cols>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice along an axis that splits another dim already.
// expect: slice: the tensor is not replicated along this axis; use reduce_scatter where it is partial, all_to_all where the axis splits another dim
// expect: axis_not_replicated<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::slice<hidden, rows>(x); }
#else
auto f(const matrix& x) { return dm::slice<hidden, cols>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A broadcast along an axis whose ranks hold different blocks.
// expect: broadcast: the tensor is not replicated along this axis; its ranks hold different parts, which relayout can move
// expect: axis_not_replicated<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::broadcast<rows>(x); }
#else
auto f(const matrix& x) { return dm::broadcast<cols>(x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The condition is split, the choices are not.
// expect: select: the operands do not fit; complete what is partial, relayout what is split differently
// expect: dim_split_in_one_operand_only<hidden, cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using split_x = dm::tensor<float, dm::layout<pod, dm::split<hidden, cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const split_x& x, const matrix& y) { return dm::select(x > 0, y, y); }
#else
auto f(const split_x& x, const split_x& y) { return dm::select(x > 0, y, y); }
#endif

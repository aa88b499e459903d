// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The larger of two, one of which is a sum yet to be made.
// expect: maximum: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const addends& y) { return dm::maximum(x, y); }
#else
auto f(const matrix& x, const addends& y) { return dm::maximum(x, dm::complete(y)); }
#endif

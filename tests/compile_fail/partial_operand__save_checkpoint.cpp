// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum that is yet to be made is saved.
// expect: save_checkpoint: ranks hold addends of a tensor along this axis, and no elements; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/io/checkpoint/save.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const addends& x) { dm::save_checkpoint("run", {}, {}, dm::part("x", x)); }
#else
void f(const matrix& x) { dm::save_checkpoint("run", {}, {}, dm::part("x", x)); }
#endif

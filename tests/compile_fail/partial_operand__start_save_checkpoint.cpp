// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum that is yet to be made is saved.
// expect: start_save_checkpoint: ranks hold addends of a tensor along this axis, and no elements; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/io/checkpoint/start_save.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const addends& x) { (void)dm::start_save_checkpoint("run", {}, {}, dm::part("x", x)); }
#else
void f(const matrix& x) { (void)dm::start_save_checkpoint("run", {}, {}, dm::part("x", x)); }
#endif

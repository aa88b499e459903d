// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum that is yet to be made is loaded.
// expect: load_safetensors: ranks hold addends of a tensor along this axis, and no elements; load a tensor of another layout
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/io/checkpoint/load_safetensors.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
using matrix = dm::tensor<float, whole, batch, hidden>;
#ifdef COMPILE_FAIL
void f(addends& x) { dm::load_safetensors("run", {}, dm::part("x", x)); }
#else
void f(matrix& x) { dm::load_safetensors("run", {}, dm::part("x", x)); }
#endif

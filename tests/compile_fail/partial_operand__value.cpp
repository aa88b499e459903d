// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number in a sum yet to be made.
// expect: value: the tensor is a sum, maximum or minimum yet to be made; complete it first
// expect: partial_operand<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using loss = dm::tensor<float, dm::layout<pod, dm::partial<rows>>>;
#ifdef COMPILE_FAIL
float f(const loss& x) { return dm::value(x); }
#else
float f(const loss& x) { return dm::value(dm::complete(x)); }
#endif

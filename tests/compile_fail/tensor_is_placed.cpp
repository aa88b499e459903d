// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number in a loss that the last stage holds.
// expect: value: the tensor lives at one place of this axis, and other ranks have no number; broadcast<axis> it first
// expect: tensor_is_placed<rows>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using loss = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>>;
#ifdef COMPILE_FAIL
auto f(const loss& x) { return dm::value(x); }
#else
auto f(const loss& x) { return dm::value(dm::broadcast<rows>(x)); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A map of addends.
// expect: map: an operand is a sum yet to be made
// expect: complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using addends = dm::tensor<float, dm::layout<pod, dm::partial<cols>>, batch, hidden>;
constexpr auto cube = [](auto a) { return a * a * a; };
#ifdef COMPILE_FAIL
auto f(const addends& x) { return dm::map(cube, x); }
#else
auto f(const addends& x) { return dm::map(cube, dm::complete(x)); }
#endif

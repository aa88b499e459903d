// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole numbers turned.
// expect: rotary: its operand is made of real numbers; cast it first
// expect: element_not_differentiable<int>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/rotary.hpp>

#include "names.hpp"

using states = dm::tensor<int, by_batch, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const states& x) { return dm::rotary<pixel, hidden>(x); }
#else
auto f(const states& x) { return dm::rotary<pixel, hidden>(dm::cast<float>(x)); }
#endif

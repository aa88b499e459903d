// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of `/` that each lack a dim.
// expect: operator/: each operand lacks a dim of the other, so the result would have all pairs; rename one, or say map([](auto a, auto b) { return a / b; }, x, y)
// expect: no_operand_has_all_dims<label, hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
using targets = dm::tensor<float, whole, label>;
#ifdef COMPILE_FAIL
auto f(const row& y, const targets& t) { return y / t; }
#else
auto f(const row& y, const row& t) { return y / t; }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dim is split in one operand of a map and whole in the other.
// expect: map: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
// expect: dim_split_in_one_operand_only<hidden, cols>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using split_x = dm::tensor<float, dm::layout<pod, dm::split<hidden, cols>>, batch, hidden>;
using bias = dm::tensor<float, whole, hidden>;
constexpr auto shifted = [](auto a, auto b) { return a + b; };
#ifdef COMPILE_FAIL
auto f(const split_x& x, const bias& b) { return dm::map(shifted, x, b); }
#else
auto f(const split_x& x, const bias& b) { return dm::map(shifted, x, dm::own<hidden, cols>(b)); }
#endif

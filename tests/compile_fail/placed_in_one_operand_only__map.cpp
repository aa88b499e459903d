// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of what one stage holds and what all ranks hold.
// expect: map: the operands live on different ranks of this axis
// expect: placed_in_one_operand_only<rows, 1>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using here = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, hidden>;
using everywhere = dm::tensor<float, whole, hidden>;
constexpr auto product = [](auto a, auto b) { return a * b; };
#ifdef COMPILE_FAIL
auto f(const here& x, const everywhere& y) { return dm::map(product, x, y); }
#else
auto f(const here& x, const everywhere& y) { return dm::map(product, x, dm::place<rows, 1>(y)); }
#endif

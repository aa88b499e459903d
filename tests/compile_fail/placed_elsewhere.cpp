// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the first stage holds is added to what the second one holds.
// expect: operator+: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
// expect: placed_elsewhere<rows, 0, 1>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using first = dm::layout<pod, dm::placed<rows, 0>>;
using second = dm::layout<pod, dm::placed<rows, 1>>;
using one = dm::tensor<float, first, hidden>;
using other = dm::tensor<float, second, hidden>;
#ifdef COMPILE_FAIL
auto f(const one& x, const other& y) { return x + y; }
#else
auto f(const one& x, const other& y) { return dm::send<rows, 1>(x) + y; }
#endif

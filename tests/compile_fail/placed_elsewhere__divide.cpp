// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of / on two stages.
// expect: operator/: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
// expect: placed_elsewhere<rows, 0, 1>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using first = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, hidden>;
using second = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const first& x, const second& y) { return x / y; }
#else
auto f(const first& x, const second& y) { return dm::send<rows, 1>(x) / y; }
#endif

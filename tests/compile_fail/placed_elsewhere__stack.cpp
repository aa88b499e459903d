// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of two stages stacked.
// expect: concat, stack: the operands live on different ranks of this axis; place<axis, k> what all ranks hold, or send<axis, k> what lives elsewhere
// expect: placed_elsewhere<rows, 0, 1>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/concat.hpp>

#include "names.hpp"

struct two : dm::dim<2> {};
using first = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, hidden>;
using second = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const first& x, const second& y) { return dm::stack<two>(x, y); }
#else
auto f(const first& x, const second& y) { return dm::stack<two>(dm::send<rows, 1>(x), y); }
#endif

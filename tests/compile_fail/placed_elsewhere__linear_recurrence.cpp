// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recurrence whose operands live at two stages.
// expect: linear_recurrence: the operands live on different ranks of this axis; place<axis, k> what all ranks hold, or send<axis, k> what lives elsewhere
// expect: placed_elsewhere<rows, 0, 1>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using first = dm::tensor<float, dm::layout<pod, dm::placed<rows, 0>>, batch, hidden>;
using second = dm::tensor<float, dm::layout<pod, dm::placed<rows, 1>>, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const first& a, const second& b) { return dm::linear_recurrence<hidden>(a, b); }
#else
auto f(const first& a, const second& b) {
  return dm::linear_recurrence<hidden>(dm::send<rows, 1>(a), b);
}
#endif

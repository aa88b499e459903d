// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that all ranks hold meet what the first stage holds.
// expect: einsum: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one that lives elsewhere
// expect: placed_in_one_operand_only<rows, 0>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using first = dm::layout<pod, dm::placed<rows, 0>>;
using inputs = dm::tensor<float, first, batch, hidden>;
using weights = dm::tensor<float, whole, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#else
auto f(const inputs& x, const weights& w) {
  return dm::einsum<batch, label>(x, dm::place<rows, 0>(w));
}
#endif

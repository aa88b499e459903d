// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The weights of another stage.
// expect: einsum: the operands live on different ranks of this axis
// expect: placed_elsewhere<rows, 0, 1>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using first = dm::layout<pod, dm::placed<rows, 0>>;
using second = dm::layout<pod, dm::placed<rows, 1>>;
using inputs = dm::tensor<float, first, batch, hidden>;
using weights = dm::tensor<float, second, hidden, label>;
#ifdef COMPILE_FAIL
auto f(const inputs& x, const weights& w) { return dm::einsum<batch, label>(x, w); }
#else
auto f(const inputs& x, const weights& w) {
  return dm::einsum<batch, label>(dm::send<rows, 0, 1>(x), w);
}
#endif

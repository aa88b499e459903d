// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// It is kept as if it were the tensor.
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 14
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
const float* f(const matrix& x) {
#ifdef COMPILE_FAIL
  const matrix y = dm::start_shift<batch>(x, 1);
#else
  const matrix y = dm::await(dm::start_shift<batch>(x, 1));
#endif
  return y.data();
}

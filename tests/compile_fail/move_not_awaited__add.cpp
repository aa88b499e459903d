// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator, and what is done with its result.
// expect: await: the operand is a move that has been started, not a tensor yet
// expect: move_not_awaited<
// lines: 20
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
auto f(const matrix& x) {
  auto coming = dm::start_shift<batch>(x, 1);
#ifdef COMPILE_FAIL
  const auto y = dm::tanh(x + coming);
#else
  const auto y = dm::tanh(x + dm::await(std::move(coming)));
#endif
  return dm::complete(dm::sum(y * x));
}

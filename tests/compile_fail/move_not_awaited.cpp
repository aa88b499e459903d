// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor that is on its way among the operands.
// expect: await: the operand is a move that has been started, not a tensor yet; take await(std::move(s)) of it first
// expect: move_not_awaited<
// lines: 20
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
auto f(const matrix& x) {
  auto coming = dm::start_all_gather<rows>(x);
#ifdef COMPILE_FAIL
  return dm::sum<batch>(coming);
#else
  return dm::sum<batch>(dm::await(std::move(coming)));
#endif
}

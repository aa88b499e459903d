// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves that are made again and again: where the mover refuses, and in the place of tensors.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;

// mistake: persistent__axis
// expect: all_gather: the axis splits no dim of the tensor; name one that does, or use whole<dim>
// expect: axis_splits_nothing<cols>
// lines: 11
auto gathered(const matrix& w) {
#ifdef COMPILE_FAIL
  auto move = dm::persistent_all_gather<cols>(w);
#else
  auto move = dm::persistent_all_gather<rows>(w);
#endif
  return dm::sum<batch>(move.run());
}

// mistake: persistent__dim
// expect: shift: a dim stands in the angle brackets, the tensor and how far in the parentheses
// expect: not_a_dim<rows>
// lines: 11
auto shifted(const matrix& w) {
#ifdef COMPILE_FAIL
  auto move = dm::persistent_shift<rows>(w, 1);
#else
  auto move = dm::persistent_shift<batch>(w, 1);
#endif
  return dm::sum<batch>(move.run());
}

// mistake: persistent__operand
// expect: persistent: the operand is a move, and no tensor; take what its run() or its wait() gives
// expect: move_not_awaited<
// lines: 21
auto summed(const matrix& w) {
  auto move = dm::persistent_shift<batch>(w, 1);
#ifdef COMPILE_FAIL
  return dm::sum<batch>(move);
#else
  return dm::sum<batch>(move.run());
#endif
}

// mistake: persistent__declared
// expect: persistent: the operand is a move, and no tensor; take what its run() or its wait() gives
// expect: move_not_awaited<
// lines: 15
matrix declared(const matrix& w) {
  auto move = dm::persistent_shift<batch>(w, 1);
#ifdef COMPILE_FAIL
  const matrix y = move;
#else
  const matrix y = move.run();
#endif
  return y;
}

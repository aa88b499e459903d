// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves that are made again and again, of what has no elements, and where the mover refuses.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;

// mistake: persistent__recorded
// expect: persistent: it moves elements, and is not recorded; of shapes, and where gradients are taken, call the mover itself each time
// expect: persistent_needs_data<
auto loss(const matrix& w) {
  return dm::value_and_grad(
      [](const auto& v) {
#ifdef COMPILE_FAIL
        auto all = dm::persistent_all_gather<rows>(v);
        return dm::sum(all.run());
#else
        return dm::sum(dm::all_gather<rows>(v));
#endif
      },
      w)();
}

// mistake: persistent__shape
// expect: persistent: it moves elements, and is not recorded; of shapes, and where gradients are taken, call the mover itself each time
// expect: persistent_needs_data<
#ifdef COMPILE_FAIL
using operand = dm::tensor<float, dm::shaped<by_batch>, batch, hidden>;
#else
using operand = matrix;
#endif
auto turned(const operand& w) {
  auto move = dm::persistent_shift<batch>(w, 1);
  move.start();
  return dm::sum<batch>(move.wait());
}

// mistake: persistent__axis
// expect: all_gather: the axis splits no dim of the tensor; name one that does, or use whole<dim>
// expect: axis_splits_nothing<cols>
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
matrix declared(const matrix& w) {
  auto move = dm::persistent_shift<batch>(w, 1);
#ifdef COMPILE_FAIL
  const matrix y = move;
#else
  const matrix y = move.run();
#endif
  return y;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves that are made again and again, of what is recorded or has no elements.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;

// mistake: persistent_needs_data
// expect: persistent: it moves elements, and is not recorded; of shapes, and where gradients are taken, call the mover itself each time
// expect: persistent_needs_data<
// lines: 17
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

// mistake: persistent_needs_data__shape
// expect: persistent: it moves elements, and is not recorded; of shapes, and where gradients are taken, call the mover itself each time
// expect: persistent_needs_data<
// lines: 11
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

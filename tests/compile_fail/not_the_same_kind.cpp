// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recorded tensor kept in a variable of a plain type.
// expect: tensor: of variable and value, one is recorded (or a shape), the other not; declare it auto, begin a loop with a recorded value, or take stop_gradient of it
// expect: not_the_same_kind<
// lines: 18
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
constexpr auto loss = [](const auto& x) {
#ifdef COMPILE_FAIL
  const matrix y = dm::square(x);
#else
  const auto y = dm::square(x);
#endif
  return dm::mean(y * x);
};
auto f(const matrix& x) { return dm::value_and_grad(loss, x)(); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is const stays as it is; what is recorded is kept by a recorded name.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using row = dm::tensor<float, by_batch, hidden>;

// mistake: values__const_data
// expect: read-only
#ifdef COMPILE_FAIL
void f(const row& x) { x.data()[0] = 1; }
#else
void f(row& x) { x.data()[0] = 1; }
#endif

// mistake: values__layer_loop
// A loop over layers that begins with the inputs, which are not recorded.
// expect: tensor: of variable and value, one is recorded (or a shape), the other not; declare it auto, begin a loop with a recorded value, or take stop_gradient of it
// expect: not_the_same_kind<
// lines: 18
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w, const auto& x) {
  auto h = x;
  for (int i = 0; i < 3; ++i) h = dm::tanh(h * w);
  return dm::mean(h);
};
#else
constexpr auto loss = [](const auto& w, const auto& x) {
  auto h = x * w;
  for (int i = 0; i < 3; ++i) h = dm::tanh(h * w);
  return dm::mean(h);
};
#endif
auto f(const row& w, const matrix& x) { return dm::value_and_grad(loss, w)(x); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A step of an optimizer inside of the loss.
// lines: 22
// expect: optimizer: parameters or gradients are recorded, inside of a loss; update them outside of it, with what value_and_grad gives
// expect: value_is_recorded<float>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;

#ifdef COMPILE_FAIL
auto f(const row& w) {
  const auto loss = [](const auto& p) {
    auto q = p;
    dm::sgd{.rate = 0.1}(q, p);
    return dm::sum(q * q);
  };
  return dm::value_and_grad(loss, w)();
}
#else
auto f(row& w) {
  const auto loss = [](const auto& p) { return dm::sum(p * p); };
  const auto step = dm::complete(dm::value_and_grad(loss, w)());
  dm::sgd{.rate = 0.1}(w, step.gradient);
  return step;
}
#endif

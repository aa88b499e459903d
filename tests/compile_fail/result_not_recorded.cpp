// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a constant.
// expect: value_and_grad: no parameter reaches the value of the function; compute it from the parameters
// expect: result_not_recorded<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using parameters = dm::tensor<float, hybrid, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& p) { return dm::sum(dm::stop_gradient(p)); };
#else
constexpr auto loss = [](const auto& p) { return dm::sum(p); };
#endif
auto f(const parameters& p) {
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)());
  return value;
}

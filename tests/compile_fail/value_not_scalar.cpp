// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a function whose value has dims.
// expect: value_and_grad: the function's value has dims; sum or average them first
// expect: value_not_scalar<hidden>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using parameters = dm::tensor<float, hybrid, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& p) { return p * p; };
#else
constexpr auto loss = [](const auto& p) { return dm::sum(p * p); };
#endif
auto f(const parameters& p) {
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)());
  return value;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gradient with respect to whole numbers.
// expect: value_and_grad: a parameter's elements are no real numbers; use float or double
// expect: element_not_differentiable<int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

constexpr auto loss = [](const auto& p) { return dm::sum(p * p); };
#ifdef COMPILE_FAIL
using parameters = dm::tensor<int, hybrid, hidden>;
#else
using parameters = dm::tensor<float, hybrid, hidden>;
#endif
auto f(const parameters& p) {
  auto [value, gradient] = dm::complete(dm::value_and_grad(loss, p)());
  return value;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of <cmath> that has no derivative here.
// expect: map: gradients do not know the derivative of this function of <cmath>; compose it of those of dm, or attach one by with_transpose
// expect: derivative_not_known<dimesh::dual<float, 1>
// lines: 23
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::map([](auto v) { return std::erf(v); }, w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::map([](auto v) { return std::tanh(v); }, w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif

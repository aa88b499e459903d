// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of floats where gradients are wanted.
// expect: map: where gradients are wanted the function gets dual numbers, and this one takes plain ones; give it auto parameters
// expect: function_takes_plain_only<
// levels: 1
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::map([](float v) { return v * v; }, w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::map([](auto v) { return v * v; }, w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif

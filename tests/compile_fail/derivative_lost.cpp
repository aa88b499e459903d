// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dual number made a plain one.
// expect: map: where gradients are wanted, elements come as dual numbers, and this makes a plain one of it; keep auto, compare, or choose by select
// expect: derivative_lost<float>
// lines: 13
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::map([](auto v) { return 2 * static_cast<float>(v); }, w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::map([](auto v) { return 2 * v; }, w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif

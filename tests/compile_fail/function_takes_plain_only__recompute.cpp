// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block with written-out parameters.
// expect: recompute: the function takes plain tensors, and gets recorded ones; take const auto&
// expect: function_takes_plain_only<
// levels: 1
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::recompute([](const row& v) { return dm::tanh(v); })(w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#else
constexpr auto loss = [](const auto& w) {
  return dm::mean(dm::recompute([](const auto& v) { return dm::tanh(v); })(w));
};
auto f(const row& w) { return dm::value_and_grad(loss, w)(); }
#endif

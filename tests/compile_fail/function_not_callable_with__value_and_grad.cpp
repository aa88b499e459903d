// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs that the loss does not take.
// expect: value_and_grad: the function cannot be called with the parameters and these inputs; give it one parameter for each of them, const auto&
// expect: function_not_callable_with<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const row& w) {
  return dm::value_and_grad([](const auto& w, const auto& x) { return dm::mean(w * x); }, w)();
}
#else
auto f(const row& w) {
  return dm::value_and_grad([](const auto& w, const auto& x) { return dm::mean(w * x); }, w)(w);
}
#endif

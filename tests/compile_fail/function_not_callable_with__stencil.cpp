// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil of two fields that gets one.
// expect: stencil: the function cannot be called with an accessor for each operand; take each as const auto&
// expect: function_not_callable_with<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::stencil([](const auto& u, const auto& v) { return dm::at<>(u) + dm::at<>(v); }, x);
}
#else
auto f(const matrix& x) {
  return dm::stencil([](const auto& u, const auto& v) { return dm::at<>(u) + dm::at<>(v); }, x, x);
}
#endif

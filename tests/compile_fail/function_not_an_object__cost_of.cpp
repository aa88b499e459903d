// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a lambda that captures.
// expect: cost_of: the function captures something, and a type alone says nothing of that; use count(f, shapes...), or a struct without members
// expect: function_not_an_object<
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include "names.hpp"

using shape = dm::tensor<float, dm::shaped<whole>, hidden>;
#ifdef COMPILE_FAIL
auto f(int n) {
  const auto scaled = [n](const auto& x) { return dm::mean(x) * n; };
  return dm::cost_of<decltype(scaled), shape>.value;
}
#else
auto f(int n) {
  const auto scaled = [n](const auto& x) { return dm::mean(x) * n; };
  return dm::count(scaled, shape{});
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of two elements, and one tensor.
// expect: map: the function cannot be called with these elements; give it a parameter for each operand, of its element's type or auto
// expect: function_not_callable_with<float>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::map([](auto a, auto b) { return a * b; }, x);
}
#else
auto f(const matrix& x) {
  return dm::map([](auto a, auto b) { return a * b; }, x, x);
}
#endif

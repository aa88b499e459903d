// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of three numbers by its name.
// expect: map: a function's name may mean several functions; write a function object: map([](auto v) { return dm::exp(v); }, x)
// expect: function_not_an_object<float
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
float middle(float a, float b, float c);
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::map(middle, x, x, x); }
#else
auto f(const matrix& x) {
  return dm::map([](auto a, auto b, auto c) { return a + b + c; }, x, x, x);
}
#endif

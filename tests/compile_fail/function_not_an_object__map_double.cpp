// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of doubles by its name.
// expect: map: a function's name may mean several functions; write a function object: map([](auto v) { return dm::exp(v); }, x)
// expect: function_not_an_object<double
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
double twice(double a);
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::map(twice, x); }
#else
auto f(const matrix& x) {
  return dm::map([](auto a) { return 2 * a; }, x);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that changes elements in place.
// expect: map: the function changes itself or its arguments; take elements by value, and let operator() be const
// expect: parameter_not_const<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::map([](auto& a) { a = 2 * a; }, x);
}
#else
auto f(const matrix& x) {
  return dm::map([](auto a) { return 2 * a; }, x);
}
#endif

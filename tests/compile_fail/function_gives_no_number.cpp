// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of elements that returns nothing.
// expect: map: the function returns no number; return the new element
// expect: function_gives_no_number<void>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::map([](auto a) { a *= 2; }, x);
}
#else
auto f(const matrix& x) {
  return dm::map([](auto a) { return 2 * a; }, x);
}
#endif

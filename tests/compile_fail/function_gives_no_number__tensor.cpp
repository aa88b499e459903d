// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of elements that returns a tensor.
// expect: map: the function returns no number; return the new element
// expect: function_gives_no_number<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const matrix& y) {
  return dm::map([&y](auto) { return y; }, x);
}
#else
auto f(const matrix& x, const matrix& y) {
  return dm::map([](auto, auto b) { return b; }, x, y);
}
#endif

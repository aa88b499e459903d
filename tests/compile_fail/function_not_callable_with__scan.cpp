// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of one element, where two are to be joined.
// expect: scan: the function cannot join elements; let it take two, by value and as auto (for gradients they come as dual numbers), return one, and be const
// expect: function_not_callable_with<float, float>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/scan.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::scan<hidden>([](auto a) { return a; }, 0, x);
}
#else
auto f(const matrix& x) {
  return dm::scan<hidden>([](auto a, auto b) { return a + b; }, 0, x);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The name of a function that is many.
// expect: map: a function's name may mean several functions; write a function object: map([](auto v) { return dm::exp(v); }, x)
// expect: function_not_an_object<
// lines: 11
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::map(dm::exp, x); }
#else
auto f(const matrix& x) {
  return dm::map([](auto v) { return dm::exp(v); }, x);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of one index for two dims.
// expect: fill_by: the function cannot be called with the indices of an element; give it an index_t for each dim, in their order
// expect: function_not_callable_with<long
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
void f(matrix& x) {
  dm::fill_by(x, [](auto i) { return i; });
}
#else
void f(matrix& x) {
  dm::fill_by(x, [](auto i, auto j) { return i + j; });
}
#endif

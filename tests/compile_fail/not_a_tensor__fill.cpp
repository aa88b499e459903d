// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function first, then the tensor that it is to fill.
// expect: fill: a tensor comes first, one that can be written, and then what fills it: fill(x, 1), fill_by(x, f)
// expect: not_a_tensor<
// lines: 12
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
void f(row& x) {
  dm::fill_by([](auto i) { return i; }, x);
}
#else
void f(row& x) {
  dm::fill_by(x, [](auto i) { return i; });
}
#endif

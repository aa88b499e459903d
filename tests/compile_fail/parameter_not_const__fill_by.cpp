// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices taken by reference.
// expect: fill_by: the function changes itself or its arguments; take indices by value, and let operator() be const
// expect: parameter_not_const<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
void f(row& x) {
  dm::fill_by(x, [](long& i) { return ++i; });
}
#else
void f(row& x) {
  dm::fill_by(x, [](auto i) { return i + 1; });
}
#endif

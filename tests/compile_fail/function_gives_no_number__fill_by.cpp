// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements made of words.
// expect: fill_by: the function returns nothing that an element can be made of; return the element
// expect: function_gives_no_number<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
void f(row& x) {
  dm::fill_by(x, [](auto) { return "one"; });
}
#else
void f(row& x) {
  dm::fill_by(x, [](auto) { return 1; });
}
#endif

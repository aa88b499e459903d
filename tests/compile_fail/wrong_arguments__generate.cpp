// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function first, then the grid.
// expect: generate: a tensor stands in the angle brackets; the grid, a function of an element's indices and open extents in the parentheses: generate<X>(grid, f)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) {
  return dm::generate<row>([](auto i) { return i; }, g);
}
#else
auto f(const dm::grid<pod>& g) {
  return dm::generate<row>(g, [](auto i) { return i; });
}
#endif

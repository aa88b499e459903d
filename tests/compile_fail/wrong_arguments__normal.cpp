// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number for the key of normal.
// expect: normal: a tensor stands in the angle brackets; the grid, a key, mean, deviation and open extents in the parentheses: normal<X>(grid, random_key{1}, 0, 0.1)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using row = dm::tensor<float, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::normal<row>(g, 1, 0, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::normal<row>(g, dm::random_key{1}, 0, 1); }
#endif

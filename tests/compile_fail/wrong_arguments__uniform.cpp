// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number for a random key.
// expect: uniform: a tensor stands in the angle brackets; the grid, a key, the two ends and open extents in the parentheses: uniform<X>(grid, random_key{1}, -1, 1)
// expect: wrong_arguments<dimesh::grid<pod>, int, int, int>
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::uniform<matrix>(g, 1, 0, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::uniform<matrix>(g, dm::random_key{1}, 0, 1); }
#endif

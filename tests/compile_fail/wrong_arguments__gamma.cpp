// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shape without a scale.
// expect: gamma: a tensor stands in the angle brackets; the grid, a key, shape, scale and open extents in the parentheses: gamma<X>(grid, random_key{1}, 2, 1)
// expect: wrong_arguments<dimesh::grid<pod>, dimesh::random_key, int>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::gamma<matrix>(g, dm::random_key{1}, 2); }
#else
auto f(const dm::grid<pod>& g) { return dm::gamma<matrix>(g, dm::random_key{1}, 2, 1); }
#endif

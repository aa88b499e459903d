// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number for a random key.
// expect: permutation: a tensor stands in the angle brackets; the grid, a key and open extents in the parentheses: permutation<X>(grid, random_key{1})
// expect: wrong_arguments<dimesh::grid<pod>, int>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::permutation<matrix>(g, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::permutation<matrix>(g, dm::random_key{1}); }
#endif

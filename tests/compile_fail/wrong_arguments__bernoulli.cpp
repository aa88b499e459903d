// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number for a random key.
// expect: bernoulli: a tensor stands in the angle brackets; the grid, a key, a probability and open extents in the parentheses: bernoulli<X>(grid, random_key{1}, 0.5)
// expect: wrong_arguments<dimesh::grid<pod>, int, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::bernoulli<matrix>(g, 1, 0.5); }
#else
auto f(const dm::grid<pod>& g) { return dm::bernoulli<matrix>(g, dm::random_key{1}, 0.5); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A deviation without a mean.
// expect: truncated_normal: a tensor stands in the angle brackets; the grid, a key, mean, deviation and open extents in the parentheses: (grid, key, 0, 0.1)
// expect: wrong_arguments<dimesh::grid<pod>, dimesh::random_key, double>
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::truncated_normal<matrix>(g, dm::random_key{1}, 0.1); }
#else
auto f(const dm::grid<pod>& g) {
  return dm::truncated_normal<matrix>(g, dm::random_key{1}, 0, 0.1);
}
#endif

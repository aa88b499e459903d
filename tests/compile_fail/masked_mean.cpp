// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Means of what does not count.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/masked_mean.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using mask = dm::tensor<bool, by_batch, batch>;

// mistake: elements_differ__masked_mean
// expect: masked_mean: the mask says of each element whether it counts, as bool: compare, as in ids != 0
// expect: elements_differ<int, bool>
using ids = dm::tensor<int, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const ids& y) { return dm::masked_mean(x, y); }
#else
auto f(const matrix& x, const ids& y) { return dm::masked_mean(x, y != 0); }
#endif

// mistake: dim_not_in_tensor__masked_mean
// expect: masked_mean: the tensor lacks a dim; name its own, and let the mask have some of its dims: masked_mean<batch>(x, mask)
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f(const matrix& x, const mask& m) { return dm::masked_mean<label>(x, m); }
#else
auto f(const matrix& x, const mask& m) { return dm::masked_mean<batch>(x, m); }
#endif

// mistake: dim_repeated__masked_mean
// expect: masked_mean: a dim counts twice; name each once, of a tensor without halos
// expect: dim_repeated<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x, const mask& m) { return dm::masked_mean<batch, batch>(x, m); }
#else
auto f(const matrix& x, const mask& m) { return dm::masked_mean<batch>(x, m); }
#endif

// mistake: partial_operand__masked_mean
// expect: masked_mean: an operand is yet to be joined over the ranks; complete it first
// expect: partial_operand<rows>
using row = dm::tensor<bool, whole, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const row& m) { return dm::masked_mean(dm::sum<batch>(x), m); }
#else
auto f(const matrix& x, const row& m) {
  return dm::masked_mean(dm::complete(dm::sum<batch>(x)), m);
}
#endif

// mistake: dim_split_in_one_operand_only__masked_mean
// expect: masked_mean: tensor and mask lie on the ranks differently; relayout one of them
// expect: dim_split_in_one_operand_only<batch, rows>
using everywhere = dm::tensor<bool, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const everywhere& m) { return dm::masked_mean(x, m); }
#else
auto f(const matrix& x, const everywhere& m) { return dm::masked_mean(x, dm::own<batch, rows>(m)); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that are split, and numbers that are not.
// expect: gather, scatter_add: elements and numbers are split differently; relayout one of them
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/gather.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using numbers = dm::tensor<int, by_batch, batch, label>;
using all = dm::tensor<int, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const all& ids) { return dm::scatter_add<hidden, label>(x, ids); }
#else
auto f(const matrix& x, const all& ids) {
  return dm::scatter_add<hidden, label>(x, dm::own<batch, rows>(ids));
}
#endif

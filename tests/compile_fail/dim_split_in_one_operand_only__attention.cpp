// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of all batches where a rank has queries of some.
// expect: attention: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using all_keys = dm::tensor<float, whole, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const all_keys& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#else
auto f(const queries& q, const all_keys& k) {
  const auto mine = dm::own<batch, rows>(k);
  return dm::attention<pixel, label, hidden>(q, mine, mine);
}
#endif

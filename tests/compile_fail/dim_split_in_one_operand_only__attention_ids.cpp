// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths of all batches where a rank has queries of some.
// expect: attention: a dim is split in one operand only; take own<dim, axis> of the other (free), or gather it with whole<dim>
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
using lengths = dm::tensor<int, whole, batch>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k, const lengths& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n);
}
#else
auto f(const queries& q, const keys& k, const lengths& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, dm::own<batch, rows>(n));
}
#endif

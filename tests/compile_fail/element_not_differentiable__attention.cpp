// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of whole numbers.
// expect: attention: its operands are float or double; cast them first
// expect: element_not_differentiable<int>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<int, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<int, by_batch, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#else
auto f(const queries& q, const keys& k) {
  const auto x = dm::cast<float>(k);
  return dm::attention<pixel, label, hidden>(dm::cast<float>(q), x, x);
}
#endif

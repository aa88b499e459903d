// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries in double, keys in float.
// expect: attention: the operands have different element types; cast one of them
// expect: elements_differ<double, float, float>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<double, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#else
auto f(const queries& q, const keys& k) {
  return dm::attention<pixel, label, hidden>(dm::cast<float>(q), k, k);
}
#endif

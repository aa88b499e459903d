// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys that are sums yet to be made.
// expect: attention: an operand is a sum yet to be made; complete it first
// expect: partial_operand<cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using addends = dm::tensor<float, dm::layout<pod, dm::split<batch, rows>, dm::partial<cols>>, batch,
                           label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const addends& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#else
auto f(const queries& q, const addends& k) {
  const auto sum = dm::complete(k);
  return dm::attention<pixel, label, hidden>(q, sum, sum);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys of many batches for queries of one.
// expect: attention: an operand lacks a dim: queries have the query dim, keys and values the key dim, all the head dim; other dims of keys are the queries', too
// expect: dim_not_in_tensor<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, whole, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k) { return dm::attention<pixel, label, hidden>(q, k, k); }
#else
using batch_of_queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
auto f(const batch_of_queries& q, const keys& k) {
  return dm::attention<pixel, label, hidden>(q, k, k);
}
#endif

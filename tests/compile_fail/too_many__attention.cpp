// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lengths, flags and ids at once.
// expect: attention: what hides keys is lengths, flags, ids of queries and of keys, or lengths and these ids; give no more
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
using lengths = dm::tensor<int, by_batch, batch>;
using of_queries = dm::tensor<int, by_batch, batch, pixel>;
using of_keys = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k, const lengths& n, const of_queries& a, const of_keys& b) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n, b, a, b);
}
#else
auto f(const queries& q, const keys& k, const lengths& n, const of_queries& a, const of_keys& b) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n, a, b);
}
#endif

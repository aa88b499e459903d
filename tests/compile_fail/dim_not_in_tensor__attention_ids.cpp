// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flags of heads that the queries do not have.
// expect: attention: lengths have neither query nor key dim, flags the key's, segment ids the query's and then the key's; their other dims are the queries', without head
// expect: dim_not_in_tensor<heads>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
struct heads : dm::dim<2> {};
using flags = dm::tensor<int, by_batch, batch, heads, label>;
using shared = dm::tensor<int, by_batch, batch, label>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k, const flags& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n);
}
#else
auto f(const queries& q, const keys& k, const shared& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries that see a block of the keys only.
// expect: attention: a query must see all keys, and all of the head dim; gather the dim that is split with whole<dim> first
// expect: dim_is_split<label, cols>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using some_keys = dm::tensor<float, dm::layout<pod, dm::split<batch, rows>, dm::split<label, cols>>,
                             batch, label, hidden>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const some_keys& k) {
  return dm::attention<pixel, label, hidden>(q, k, k);
}
#else
auto f(const queries& q, const some_keys& k) {
  const auto all = dm::whole<label>(k);
  return dm::attention<pixel, label, hidden>(q, all, all);
}
#endif

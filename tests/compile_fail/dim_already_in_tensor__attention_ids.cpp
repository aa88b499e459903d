// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A length for every query.
// expect: attention: lengths have neither query nor key dim, flags the key's, segment ids the query's and then the key's; their other dims are the queries', without head
// expect: dim_already_in_tensor<pixel>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/attention.hpp>

#include "names.hpp"

using queries = dm::tensor<float, by_batch, batch, pixel, hidden>;
using keys = dm::tensor<float, by_batch, batch, label, hidden>;
using each = dm::tensor<int, by_batch, batch, pixel>;
using lengths = dm::tensor<int, by_batch, batch>;
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k, const each& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n);
}
#else
auto f(const queries& q, const keys& k, const lengths& n) {
  return dm::attention<pixel, label, hidden>(q, k, k, {}, n);
}
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows and groups exchanged.
// expect: grouped_einsum: the first operand has the dim of rows, the other two that of groups, and none the other's; pass grouped_einsum<rows, group, ...>(x, w, lengths)
// expect: dim_not_in_tensor<expert>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<expert, batch, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif

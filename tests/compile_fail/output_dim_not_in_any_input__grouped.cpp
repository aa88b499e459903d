// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A result that still has the groups.
// expect: grouped_einsum: the result has the rows and not the groups, and every other dim stands in it or in two operands; name such dims
// expect: output_dim_not_in_any_input<expert>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, expert, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif

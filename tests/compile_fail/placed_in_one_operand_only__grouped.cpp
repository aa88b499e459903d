// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights on some of the ranks of the rows.
// expect: grouped_einsum: the operands live on different ranks of this axis; place<axis, k> the one that all of them hold (free), or send<axis, k> the one elsewhere
// expect: placed_in_one_operand_only<cols, 1>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
using there = dm::tensor<float, dm::layout<pod, dm::placed<cols, 1>>, expert, pixel, hidden>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const there& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif

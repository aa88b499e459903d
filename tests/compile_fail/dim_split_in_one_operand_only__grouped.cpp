// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups that are split over an axis of which the rows know nothing.
// expect: grouped_einsum: groups are whole, or split over the axes of the rows, in weights and lengths alike, and other dims in all operands alike; relayout one of them
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/grouped_einsum.hpp>

#include "names.hpp"

struct expert : dm::dim<4> {};
using tokens = dm::tensor<float, by_batch, batch, pixel>;
using weights = dm::tensor<float, whole, expert, pixel, hidden>;
using lengths = dm::tensor<int, whole, expert>;
using by_expert = dm::layout<pod, dm::split<expert, cols>>;
using experts = dm::tensor<float, by_expert, expert, pixel, hidden>;
using some_lengths = dm::tensor<int, by_expert, expert>;
#ifdef COMPILE_FAIL
auto f(const tokens& x, const experts& w, const some_lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#else
auto f(const tokens& x, const weights& w, const lengths& l) {
  return dm::grouped_einsum<batch, expert, batch, hidden>(x, w, l);
}
#endif

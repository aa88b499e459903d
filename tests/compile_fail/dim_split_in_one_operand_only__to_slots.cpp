// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The groups are split in the slots' numbers alone.
// expect: to_slots, from_slots: tokens, gates and slots lie on the ranks differently, or are yet to be summed; relayout or complete one of them
// expect: dim_split_in_one_operand_only<batch, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/slots.hpp>

#include "names.hpp"

struct token : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct expert : dm::dim<4> {};
struct slot : dm::dim<3> {};
using places = dm::tensor<int, by_batch, batch, token, choice>;
#ifdef COMPILE_FAIL
using tokens = dm::tensor<float, dm::layout<pod>, batch, token, hidden>;
#else
using tokens = dm::tensor<float, by_batch, batch, token, hidden>;
#endif
auto f(const tokens& x, const places& at) {
  return dm::nn::to_slots<token, choice, expert, slot>(x, at);
}

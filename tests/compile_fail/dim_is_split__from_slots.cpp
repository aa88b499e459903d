// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results are still where their experts are.
// expect: to_slots, from_slots: tokens, choices, experts and slots are whole on a rank; split the groups, and relayout to split experts
// expect: dim_is_split<expert, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/slots.hpp>

#include "names.hpp"

struct token : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct expert : dm::dim<4> {};
struct slot : dm::dim<3> {};
using places = dm::tensor<int, by_batch, batch, token, choice>;
using gates = dm::tensor<float, by_batch, batch, token, choice>;
#ifdef COMPILE_FAIL
using by_expert = dm::layout<pod, dm::split<expert, rows>>;
#else
using by_expert = by_batch;
#endif
using results = dm::tensor<float, by_expert, expert, batch, slot, hidden>;
auto f(const results& y, const gates& w, const places& at) {
  return dm::nn::from_slots<token, choice, expert, slot>(y, w, at);
}

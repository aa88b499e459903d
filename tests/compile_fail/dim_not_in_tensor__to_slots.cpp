// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tokens lack a dim of the groups.
// expect: to_slots, from_slots: tokens have the dims of their slots but for the choices, and what is in slots those of experts and slots instead; name them so
// expect: dim_not_in_tensor<batch>
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/slots.hpp>

#include "names.hpp"

struct token : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct expert : dm::dim<4> {};
struct slot : dm::dim<3> {};
using places = dm::tensor<int, by_batch, batch, token, choice>;
#ifdef COMPILE_FAIL
using tokens = dm::tensor<float, by_batch, token, hidden>;
#else
using tokens = dm::tensor<float, by_batch, batch, token, hidden>;
#endif
auto f(const tokens& x, const places& at) {
  return dm::nn::to_slots<token, choice, expert, slot>(x, at);
}

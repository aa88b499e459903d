// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scores have no experts.
// expect: route, expert_choice: scores have the dims of groups, tokens and experts, and not that of choices: route<token, expert, choice>(gating, scores)
// expect: dim_not_in_tensor<expert>
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/route.hpp>

#include "names.hpp"

struct token : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct expert : dm::dim<4> {};
#ifdef COMPILE_FAIL
using scores = dm::tensor<float, by_batch, batch, token, hidden>;
#else
using scores = dm::tensor<float, by_batch, batch, token, expert>;
#endif
auto f(const scores& p) { return dm::nn::route<token, expert, choice>({}, p); }

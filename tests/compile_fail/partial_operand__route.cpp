// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The router's product is yet to be summed.
// expect: route, expert_choice: scores are yet to be summed, or what says which tokens count lies otherwise; complete or relayout it
// expect: partial_operand<rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/route.hpp>

#include "names.hpp"

struct token : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct expert : dm::dim<4> {};
#ifdef COMPILE_FAIL
using L = dm::layout<pod, dm::partial<rows>>;
#else
using L = by_batch;
#endif
auto f(const dm::tensor<float, L, batch, token, expert>& p) {
  return dm::nn::route<token, expert, choice>({}, p);
}

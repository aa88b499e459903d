// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tokens of a group are counted one after another: they lie on one rank.
// expect: route, expert_choice: tokens of a group and experts are whole on a rank; split the groups, and take whole<dim> of these
// expect: dim_is_split<token, rows>
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/moe/route.hpp>

#include "names.hpp"

struct token : dm::dim<8> {};
struct choice : dm::dim<2> {};
struct expert : dm::dim<4> {};
#ifdef COMPILE_FAIL
using L = dm::layout<pod, dm::split<token, rows>>;
#else
using L = by_batch;
#endif
auto f(const dm::tensor<float, L, batch, token, expert>& p) {
  return dm::nn::route<token, expert, choice>({}, p);
}

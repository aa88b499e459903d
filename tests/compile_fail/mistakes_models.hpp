// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which form and parameters do mistakes around models meet?
#pragma once

#include "mistakes.hpp"

namespace nn = dm::nn;
namespace my {
struct batch : dm::dim<8> {};
struct length : dm::dim<8> {};
struct length2 : dm::dim<8> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<32> {};
struct source : dm::dim<6> {};
}  // namespace my
struct without_layers : nn::transformer {
  using batch = my::batch;
  using length = my::length;
  using model = my::model;
  using heads = dm::shape<my::heads>;
  using head = my::head;
  using hidden = my::hidden;
  using vocab = my::vocab;
};
struct gpt : without_layers {
  static constexpr int layers = 1;
};
struct pair_form : gpt {
  using source = my::source;
};
using data = dm::layout<pod, dm::split<my::batch, rows>>;
extern nn::language_model_parameters<data, gpt> np;
extern nn::tokens<data, gpt> tok, nxt;
extern const nn::language_model<data, gpt> lm;

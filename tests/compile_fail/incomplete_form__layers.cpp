// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A form without layers.
// expect: nn: the form has no layers; add static constexpr int layers = a number
// expect: names_layers<gpt>
// lines: 14
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/language_model.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
struct length : dm::dim<4> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<3> {};
struct width : dm::dim<6> {};
struct vocab : dm::dim<8> {};
struct named : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::width;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
};
#ifdef COMPILE_FAIL
struct gpt : named {};
#else
struct gpt : named {
  static constexpr int layers = 1;
};
#endif
nn::language_model_parameters<by_batch, gpt> p;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A form without its model.
// expect: nn: the form names no model; add using model = a dim
// expect: names_model<gpt>
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
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 1;
};
#ifdef COMPILE_FAIL
struct gpt : named {};
#else
struct gpt : named {
  using model = ::width;
};
#endif
nn::language_model_parameters<by_batch, gpt> p;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A form without its vocab.
// expect: nn: the form names no vocab; add using vocab = a dim
// expect: names_vocab<gpt>
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
  static constexpr int layers = 1;
};
#ifdef COMPILE_FAIL
struct gpt : named {};
#else
struct gpt : named {
  using vocab = ::vocab;
};
#endif
nn::language_model_parameters<by_batch, gpt> p;

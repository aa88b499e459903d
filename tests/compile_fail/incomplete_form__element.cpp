// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A form whose parameters would be rounded.
// expect: nn: elements of parameters are float or double; for activations in half precision say using activations = bfloat16
// expect: has_elements<gpt>
// lines: 14
#include <dimesh/dimesh.hpp>
#include <dimesh/element/bfloat16.hpp>
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
  static constexpr int layers = 1;
};
#ifdef COMPILE_FAIL
struct gpt : named {
  using element = dm::bfloat16;
};
#else
struct gpt : named {
  using activations = dm::bfloat16;
};
#endif
nn::language_model_parameters<by_batch, gpt> p;

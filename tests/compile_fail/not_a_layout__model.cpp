// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mesh for a compute layout.
// expect: nn: a model begins with its compute layout: <layout<pod, split<batch, rows>>, form>
// expect: not_a_layout<pod>
// lines: 18
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/language_model.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
struct length : dm::dim<4> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<3> {};
struct width : dm::dim<6> {};
struct vocab : dm::dim<8> {};
struct gpt : nn::transformer {
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
const nn::language_model<pod, gpt> m;
#else
const nn::language_model<by_batch, gpt> m;
#endif

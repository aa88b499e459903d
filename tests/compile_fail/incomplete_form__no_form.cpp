// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A form that does not derive from nn::transformer.
// expect: nn: this is no form; write a struct that derives from nn::transformer, and name it behind the layout: <layout, form>
// expect: is_form<other>
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
struct other {
  using batch = ::batch;
};
#else
struct other : gpt {};
#endif
nn::language_model_parameters<by_batch, other> p;

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form of a Transformer that forgets one of its dims.
// expect: nn: the form names no hidden; add using hidden = a dim
// expect: names_hidden<gpt>
// lines: 14
#include "dimesh/nn/language_model.hpp"
namespace dm = dimesh;
namespace nn = dimesh::nn;
struct batch : dm::dim<4> {};
struct length : dm::dim<16> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<8> {};
struct cols : dm::axis<2> {};
struct line : dm::mesh<cols> {};
struct named : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using vocab = ::vocab;
  static constexpr int layers = 1;
};
#ifdef COMPILE_FAIL
struct gpt : named {};
#else
struct gpt : named {
  using hidden = ::hidden;
};
#endif
using C = dm::layout<line, dm::split<heads, cols>>;
using parameters = nn::language_model_parameters<dm::shaped<C>, gpt>;
using ids = dm::tensor<std::int32_t, dm::shaped<C>, batch, length>;
auto loss(const parameters& p, const ids& x) { return nn::language_model<C, gpt>().loss(p, x, x); }

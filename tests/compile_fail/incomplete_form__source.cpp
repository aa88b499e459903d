// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form of an encoder and a decoder that forgets what the encoder reads.
// expect: nn: the form names no source; add using source = a dim
// expect: names_source<translation>
// lines: 15
#include "dimesh/nn/encoder_decoder.hpp"
#include "dimesh/nn/generate/translate.hpp"
namespace dm = dimesh;
namespace nn = dimesh::nn;
struct batch : dm::dim<4> {};
struct length : dm::dim<16> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<16> {};
struct source : dm::dim<12> {};
struct vocab : dm::dim<8> {};
struct cols : dm::axis<2> {};
struct line : dm::mesh<cols> {};
struct named : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 1;
};
#ifdef COMPILE_FAIL
struct translation : named {};
#else
struct translation : named {
  using source = ::source;
};
#endif
using C = dm::layout<line, dm::split<heads, cols>>;
using parameters = nn::encoder_decoder_parameters<dm::shaped<C>, translation>;
using ids = dm::tensor<std::int32_t, dm::shaped<C>, batch, length>;
#ifdef COMPILE_FAIL
using from = ids;
#else
using from = dm::tensor<std::int32_t, dm::shaped<C>, batch, source>;
#endif
auto loss(const parameters& p, const from& s, const ids& x) {
  return nn::encoder_decoder<C, translation>().loss(p, s, x, x);
}
using pair = nn::encoder_decoder<C, translation>;
auto written(const dm::grid<line>& g, const pair::parameters& p) {
  return nn::generate(pair(), p, g, {{1}}, {{1}});
}

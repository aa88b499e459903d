// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters first.
// expect: norm: the arguments are a model, the parameters of a norm and a tensor: norm(m, p.last, x)
// expect: wrong_arguments<
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
using model = nn::language_model<by_batch, gpt>;
using parameters = nn::language_model_parameters<by_batch, gpt>;
using ids = nn::tokens<by_batch, gpt>;
using stream = dm::tensor<float, by_batch, batch, length, width>;
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters& p, const stream& x) { return nn::norm(p.last, m, x); }
#else
auto f(const model& m, const parameters& p, const stream& x) { return nn::norm(m, p.last, x); }
#endif

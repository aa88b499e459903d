// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What members of a model, and its blocks, are not called with.
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

// mistake: block
// The tensor before the parameters.
// expect: block: the arguments are a model, the parameters of a layer and a tensor: block(m, p.layers[0], x)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters& p, const stream& x) {
  return nn::block(m, x, p.layers[0]);
}
#else
auto f(const model& m, const parameters& p, const stream& x) {
  return nn::block(m, p.layers[0], x);
}
#endif

// mistake: block_with_memory
// An encoder's result for a layer that looks at none.
// expect: block: a layer that looks at an encoder's result (M::cross) is given it, another one is not
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters& p, const stream& x) {
  return nn::block(m, p.layers[0], x, x);
}
#else
auto f(const model& m, const parameters& p, const stream& x) {
  return nn::block(m, p.layers[0], x);
}
#endif

// mistake: features
// The token numbers first.
// expect: features: the arguments are parameters and token numbers: m.features(p, ids)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters& p, const ids& x) { return m.features(x, p); }
#else
auto f(const model& m, const parameters& p, const ids& x) { return m.features(p, x); }
#endif

// mistake: logits
// No parameters.
// expect: logits: the arguments are parameters and token numbers: m.logits(p, ids)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters&, const ids& x) { return m.logits(x); }
#else
auto f(const model& m, const parameters& p, const ids& x) { return m.logits(p, x); }
#endif

// mistake: loss
// Nothing to compare with.
// expect: loss: the arguments are parameters, token numbers and those that come next: m.loss(p, ids, next)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters& p, const ids& x) { return m.loss(p, x); }
#else
auto f(const model& m, const parameters& p, const ids& x) { return m.loss(p, x, x); }
#endif

// mistake: loss_without_parameters
// A struct that is none of parameters.
// expect: loss: the arguments are parameters, token numbers and those that come next: m.loss(p, ids, next)
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
auto f(const model& m, const parameters& p, const ids& x) { return m.loss(p.layers, x, x); }
#else
auto f(const model& m, const parameters& p, const ids& x) { return m.loss(p, x, x); }
#endif

// mistake: other_form
// Parameters of a form with another model dim.
// expect: language_model: the parameters are of a form with other dims; make them of the model's own type, typename decltype(m)::parameters
// expect: dim_not_in_tensor<width>
#ifdef COMPILE_FAIL
struct narrow : dm::dim<3> {};
struct small : gpt {
  using model = narrow;
};
using others = nn::language_model_parameters<by_batch, small>;
auto f(const model& m, const others& p, const ids& x) { return m.loss(p, x, x); }
#else
auto f(const model& m, const parameters& p, const ids& x) { return m.loss(p, x, x); }
#endif

// mistake: other_length
// Token numbers of another length than the model's.
// expect: language_model: token numbers have the batch and the length of the model's form, ids[batch, length]; rename what stands for them
// expect: dim_not_in_tensor<length>
#ifdef COMPILE_FAIL
struct longer : dm::dim<8> {};
using numbers = dm::tensor<std::int32_t, by_batch, batch, longer>;
auto f(const model& m, const parameters& p, const numbers& x) { return m.logits(p, x); }
#else
auto f(const model& m, const parameters& p, const ids& x) { return m.logits(p, x); }
#endif

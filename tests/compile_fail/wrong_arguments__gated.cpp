// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No model.
// expect: gated: the arguments are a model, an activation and then tensors: gated(nn::model<C>{}, nn::silu_activation{}, x, w, v)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/dense.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, by_batch, hidden, label>;
using model = nn::model<by_batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return nn::gated(nn::silu_activation{}, x, w, w); }
#else
auto f(const matrix& x, const weights& w) {
  return nn::gated(model{}, nn::silu_activation{}, x, w, w);
}
#endif

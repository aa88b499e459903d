// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The activation behind the tensors.
// expect: dense: the arguments are a model, an activation and then tensors: dense(nn::model<C>{}, nn::relu_activation{}, x, w, b)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/dense.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, by_batch, hidden, label>;
using model = nn::model<by_batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) {
  return nn::dense(model{}, x, w, nn::relu_activation{});
}
#else
auto f(const matrix& x, const weights& w) {
  return nn::dense(model{}, nn::relu_activation{}, x, w);
}
#endif

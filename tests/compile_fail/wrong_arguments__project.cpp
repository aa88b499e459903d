// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No model.
// expect: project: the arguments are a model and two tensors: project(nn::model<C>{}, x, w)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/dense.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, by_batch, hidden, label>;
using model = nn::model<by_batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x, const weights& w) { return nn::project(x, w); }
#else
auto f(const matrix& x, const weights& w) { return nn::project(model{}, x, w); }
#endif

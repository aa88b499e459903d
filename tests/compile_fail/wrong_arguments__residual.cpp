// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No model.
// expect: residual: the arguments are a model and then tensors: residual(nn::model<C>{}, x, y)
// expect: wrong_arguments<
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/dense.hpp>

#include "names.hpp"

namespace nn = dimesh::nn;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using weights = dm::tensor<float, by_batch, hidden, label>;
using model = nn::model<by_batch>;
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return nn::residual(x, x); }
#else
auto f(const matrix& x) { return nn::residual(model{}, x, x); }
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Norms of nn/ whose arguments come in another order, or without the model.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/batch_norm.hpp>

#include "names.hpp"

namespace nn = dm::nn;
using matrix = dm::tensor<float, by_batch, batch, hidden>;
using scales = nn::scale_and_shift<whole, float, hidden>;
using moments = nn::running_moments<whole, float, hidden>;
inline const nn::model<by_batch> m{};

// mistake: norms_of_layers__without_model
// expect: nn::batch_norm: the model comes first, which knows the layout and epsilon, then gain and bias: batch_norm<channel>(model<L>{}, p, x).y
// expect: wrong_arguments<dimesh::nn::scale_and_shift<
#ifdef COMPILE_FAIL
auto f(const scales& p, const matrix& x) { return nn::batch_norm<hidden>(p, x); }
#else
auto f(const scales& p, const matrix& x) { return nn::batch_norm<hidden>(m, p, x); }
#endif

// mistake: norms_of_layers__moments_behind
// expect: nn::batch_norm_by: behind the model come the moments that were kept, then gain and bias: batch_norm_by(m, running, p, x)
// expect: wrong_arguments<dimesh::nn::scale_and_shift<
#ifdef COMPILE_FAIL
auto f(const scales& p, const moments& r, const matrix& x) { return nn::batch_norm_by(m, p, r, x); }
#else
auto f(const scales& p, const moments& r, const matrix& x) { return nn::batch_norm_by(m, r, p, x); }
#endif

// mistake: norms_of_layers__moments_of_tensor
// expect: nn::keep_moments: takes all that batch_norm gave, since the moments are among it: now = batch_norm<channel>(m, p, x); keep_moments(running, now, 0.1)
// expect: wrong_arguments<dimesh::basic_tensor<
#ifdef COMPILE_FAIL
void f(const scales& p, moments& r, const matrix& x) {
  const auto now = nn::batch_norm<hidden>(m, p, x);
  nn::keep_moments(r, now.y, 0.1);
}
#else
void f(const scales& p, moments& r, const matrix& x) {
  const auto now = nn::batch_norm<hidden>(m, p, x);
  nn::keep_moments(r, now, 0.1);
}
#endif

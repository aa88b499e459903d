// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells that remember, called with what does not belong to them.
#include <dimesh/dimesh.hpp>
#include <dimesh/nn/recurrent.hpp>

#include "names.hpp"

namespace nn = dm::nn;
struct step : dm::dim<4> {};
struct from : dm::dim<6> {};
struct other : dm::dim<6> {};
using series = dm::tensor<float, by_batch, batch, step, pixel>;
using state = dm::tensor<float, by_batch, batch, hidden>;
using both = std::tuple<state, state>;
using lstm_weights = nn::lstm_parameters<by_batch, float, pixel, hidden, from>;
using gru_weights = nn::gru_parameters<by_batch, float, pixel, hidden, from>;
inline const nn::model<by_batch> m;

// mistake: dim_not_in_tensor__lstm_of_gru
// The parameters of the other cell, which have another number of gates.
// expect: lstm: the parameters, or the first h, lack a dim that belongs to the call: take lstm_parameters of the dims in lstm<time, hidden, from>(m, p, {h, cell}, x)
// expect: dim_not_in_tensor<
#ifdef COMPILE_FAIL
using weights = gru_weights;
#else
using weights = lstm_weights;
#endif
auto f(const weights& p, const both& start, const series& x) {
  return nn::lstm<step, hidden, from>(m, p, start, x);
}

// mistake: dim_not_in_tensor__lstm_from
// Another name for the hidden dim of the step before than the weights have.
// expect: lstm: the parameters, or the first h, lack a dim that belongs to the call: take lstm_parameters of the dims in lstm<time, hidden, from>(m, p, {h, cell}, x)
// expect: dim_not_in_tensor<other>
#ifdef COMPILE_FAIL
using before = other;
#else
using before = from;
#endif
auto f(const lstm_weights& p, const both& start, const series& x) {
  return nn::lstm<step, hidden, before>(m, p, start, x);
}

// mistake: dim_not_in_tensor__gru_hidden
// A hidden dim that weights and state do not have.
// expect: gru: the parameters, or the first h, lack a dim that belongs to the call: take gru_parameters of the dims in gru<time, hidden, from>(m, p, h, x)
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
using remembered = label;
#else
using remembered = hidden;
#endif
auto f(const gru_weights& p, const state& start, const series& x) {
  return nn::gru<step, remembered, from>(m, p, start, x);
}

// mistake: dim_not_in_tensor__lstm_input
// Inputs without the dim that the weights sum.
// expect: project: the weights share no dim with the tensor, so that nothing would be summed; name the dim to be summed in both
// expect: dim_not_in_tensor<pixel>
// levels: 1
#ifdef COMPILE_FAIL
using inputs = dm::tensor<float, by_batch, batch, step, label>;
#else
using inputs = series;
#endif
auto f(const lstm_weights& p, const both& start, const inputs& x) {
  return nn::lstm<step, hidden, from>(m, p, start, x);
}

// mistake: dim_is_split__lstm
// The steps are on different ranks.
// expect: recur: the dim of the steps is split, and each step needs the one before it; whole<dim> it, or split another
// expect: dim_is_split<step, rows>
// levels: 1
#ifdef COMPILE_FAIL
using C = dm::layout<pod, dm::split<step, rows>>;
#else
using C = dm::layout<pod, dm::split<batch, rows>>;
#endif
using first = dm::tensor<float, C, batch, hidden>;
auto f(const nn::lstm_parameters<C, float, pixel, hidden, from>& p,
       const std::tuple<first, first>& start, const dm::tensor<float, C, batch, step, pixel>& x) {
  return nn::lstm<step, hidden, from>(nn::model<C>{}, p, start, x);
}

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

// mistake: layouts_differ__lstm_start
// A cell that is whole, where steps leave one that is split.
// expect: lstm: the first h, or cell, is not under the model's layout, in which a step leaves it for the next; begin with relayout<layout>(h)
// expect: layouts_differ<
#ifdef COMPILE_FAIL
using cell = dm::tensor<float, whole, batch, hidden>;
#else
using cell = state;
#endif
auto f(const lstm_weights& p, const state& h, const cell& c, const series& x) {
  return nn::lstm<step, hidden, from>(m, p, std::tuple{h, c}, x);
}

// mistake: layouts_differ__gru_start
// The same of the one tensor that a GRU remembers.
// expect: gru: the first h is not under the model's layout, in which a step leaves it for the next; begin with relayout<layout>(h)
// expect: layouts_differ<
#ifdef COMPILE_FAIL
using L = whole;
#else
using L = by_batch;
#endif
auto f(const gru_weights& p, const dm::tensor<float, L, batch, hidden>& start, const series& x) {
  return nn::gru<step, hidden, from>(m, p, start, x);
}

// mistake: dim_not_in_tensor__lstm_start
// One start for all of the batch.
// expect: lstm: the first h, or cell, lacks a dim of the inputs, or has another order: theirs but time and what weights sum, then hidden; expand or permute it
// expect: dim_not_in_tensor<batch>
#ifdef COMPILE_FAIL
using first = dm::tensor<float, by_batch, hidden>;
#else
using first = state;
#endif
auto f(const lstm_weights& p, const std::tuple<first, first>& start, const series& x) {
  return nn::lstm<step, hidden, from>(m, p, start, x);
}

// mistake: dims_differ__gru_start
// Another order than that of the inputs.
// expect: gru: the first h lacks a dim of the inputs, or has another order: theirs but time and what weights sum, then hidden; expand or permute it
// expect: dims_differ<
#ifdef COMPILE_FAIL
using first = dm::tensor<float, by_batch, hidden, batch>;
#else
using first = state;
#endif
auto f(const gru_weights& p, const first& start, const series& x) {
  return nn::gru<step, hidden, from>(m, p, start, x);
}

// mistake: elements_differ__lstm_start
// Inputs in double make gates in double, which leave more than a float remembers.
// expect: lstm: the first h, or cell, has other elements than a step leaves; cast it
// expect: elements_differ<float, double>
using inputs = dm::tensor<double, by_batch, batch, step, pixel>;
#ifdef COMPILE_FAIL
using first = state;
#else
using first = dm::tensor<double, by_batch, batch, hidden>;
#endif
auto f(const lstm_weights& p, const first& h, const inputs& x) {
  return nn::lstm<step, hidden, from>(m, p, std::tuple{h, h}, x);
}

// mistake: elements_differ__gru_start
// expect: gru: the first h has other elements than a step leaves; cast it
// expect: elements_differ<float, double>
using inputs = dm::tensor<double, by_batch, batch, step, pixel>;
#ifdef COMPILE_FAIL
using first = state;
#else
using first = dm::tensor<double, by_batch, batch, hidden>;
#endif
auto f(const gru_weights& p, const first& start, const inputs& x) {
  return nn::gru<step, hidden, from>(m, p, start, x);
}

// mistake: dim_is_split__lstm_gates
// Gates on different ranks, and a step joins all of them.
// expect: lstm: the model's layout splits the gates, and a step needs all of one element; split the hidden dim instead
// expect: dim_is_split<
#ifdef COMPILE_FAIL
using C = dm::layout<pod, dm::split<nn::lstm_gate, rows>>;
#else
using C = dm::layout<pod, dm::split<hidden, rows>>;
#endif
using first = dm::tensor<float, C, batch, hidden>;
auto f(const lstm_weights& p, const std::tuple<first, first>& start, const series& x) {
  return nn::lstm<step, hidden, from>(nn::model<C>{}, p, start, x);
}

// mistake: dim_is_split__gru_gates
// The same of three gates, over an axis of any size.
// expect: gru: the model's layout splits the gates, and a step needs all of one element; split the hidden dim instead
// expect: dim_is_split<
#ifdef COMPILE_FAIL
using C = dm::layout<pod, dm::split<dm::uneven<nn::gru_gate>, rows>>;
#else
using C = dm::layout<pod, dm::split<hidden, rows>>;
#endif
auto f(const gru_weights& p, const dm::tensor<float, C, batch, hidden>& start, const series& x) {
  return nn::gru<step, hidden, from>(nn::model<C>{}, p, start, x);
}

// mistake: dims_share_mesh_axis__lstm
// The hidden dim, as a step writes it and as the next reads it, over the same axis.
// expect: lstm: the model's layout splits two dims over one axis that meet in a step's product; split one of them, or let one give way: split_if_free
// expect: dims_share_mesh_axis<
#ifdef COMPILE_FAIL
using C = dm::layout<pod, dm::split<hidden, rows>, dm::split<from, rows>>;
#else
using C = dm::layout<pod, dm::split<hidden, rows>, dm::split_if_free<from, rows>>;
#endif
using first = dm::tensor<float, C, batch, hidden>;
auto f(const lstm_weights& p, const std::tuple<first, first>& start, const series& x) {
  return nn::lstm<step, hidden, from>(nn::model<C>{}, p, start, x);
}

// mistake: dims_share_mesh_axis__gru
// expect: gru: the model's layout splits two dims over one axis that meet in a step's product; split one of them, or let one give way: split_if_free
// expect: dims_share_mesh_axis<
#ifdef COMPILE_FAIL
using C = dm::layout<pod, dm::split<batch, rows>, dm::split<from, rows>>;
#else
using C = dm::layout<pod, dm::split<batch, rows>, dm::split<from, cols>>;
#endif
auto f(const gru_weights& p, const dm::tensor<float, C, batch, hidden>& start, const series& x) {
  return nn::gru<step, hidden, from>(nn::model<C>{}, p, start, x);
}

// mistake: wrong_arguments__lstm_one
// One tensor to begin with, as of a GRU.
// expect: lstm: it remembers two tensors, and begins with one here: begin with h and a cell, as in lstm<time, hidden, from>(m, p, {h, cell}, x)
// expect: wrong_arguments<
auto f(const lstm_weights& p, const state& h, const series& x) {
#ifdef COMPILE_FAIL
  return nn::lstm<step, hidden, from>(m, p, h, x, {.segment = 2});
#else
  return nn::lstm<step, hidden, from>(m, p, {h, h}, x, {.segment = 2});
#endif
}

// mistake: wrong_arguments__lstm_swapped
// expect: lstm: the inputs stand where the first h and cell belong, and these in their place: lstm<time, hidden, from>(m, p, {h, cell}, x)
// expect: wrong_arguments<
auto f(const lstm_weights& p, const both& start, const series& x) {
#ifdef COMPILE_FAIL
  const auto [last, h] = nn::lstm<step, hidden, from>(m, p, x, start);
#else
  const auto [last, h] = nn::lstm<step, hidden, from>(m, p, start, x);
#endif
  return dm::sum(h);
}

// mistake: wrong_arguments__lstm_swapped_braces
// expect: lstm: the inputs stand where the first h and cell belong, and these in their place: lstm<time, hidden, from>(m, p, {h, cell}, x)
// expect: wrong_arguments<
// levels: 1
auto f(const lstm_weights& p, const state& h, const series& x) {
#ifdef COMPILE_FAIL
  return nn::lstm<step, hidden, from>(m, p, x, {h, h});
#else
  return nn::lstm<step, hidden, from>(m, p, {h, h}, x);
#endif
}

// mistake: wrong_arguments__lstm
// The parameters before the model.
// expect: lstm: the arguments are a model, lstm_parameters, the first h and cell, and inputs: lstm<time, hidden, from>(m, p, {h, cell}, x)
// expect: wrong_arguments<
auto f(const lstm_weights& p, const both& start, const series& x) {
#ifdef COMPILE_FAIL
  return nn::lstm<step, hidden, from>(p, m, start, x);
#else
  return nn::lstm<step, hidden, from>(m, p, start, x);
#endif
}

// mistake: wrong_arguments__gru_several
// A cell beside h, as of an LSTM.
// expect: gru: it remembers h alone, and begins with more here: begin with h, as in gru<time, hidden, from>(m, p, h, x), or take an lstm
// expect: wrong_arguments<
#ifdef COMPILE_FAIL
using first = both;
#else
using first = state;
#endif
auto f(const gru_weights& p, const first& start, const series& x) {
  return nn::gru<step, hidden, from>(m, p, start, x);
}

// mistake: wrong_arguments__gru_braces
// expect: gru: it remembers h alone, and begins with more here: begin with h, as in gru<time, hidden, from>(m, p, h, x), or take an lstm
// expect: wrong_arguments<
// levels: 1
auto f(const gru_weights& p, const state& h, const series& x) {
#ifdef COMPILE_FAIL
  return nn::gru<step, hidden, from>(m, p, {h, h}, x);
#else
  return nn::gru<step, hidden, from>(m, p, h, x);
#endif
}

// mistake: wrong_arguments__gru_swapped
// expect: gru: the inputs stand where the first h belongs, and it in their place: gru<time, hidden, from>(m, p, h, x)
// expect: wrong_arguments<
auto f(const gru_weights& p, const state& h, const series& x) {
#ifdef COMPILE_FAIL
  const auto [last, all] = nn::gru<step, hidden, from>(m, p, x, h);
#else
  const auto [last, all] = nn::gru<step, hidden, from>(m, p, h, x);
#endif
  return dm::sum(all);
}

// mistake: wrong_arguments__gru
// Without the dim that the step before is read by.
// expect: gru: the arguments are a model, gru_parameters, the first h, and inputs: gru<time, hidden, from>(m, p, h, x)
// expect: wrong_arguments<
auto f(const gru_weights& p, const state& h, const series& x) {
#ifdef COMPILE_FAIL
  return nn::gru<step, hidden>(m, p, h, x);
#else
  return nn::gru<step, hidden, from>(m, p, h, x);
#endif
}

// mistake: not_the_same_kind__lstm_braces
// Braces hold one type: here one of the two is whole.
// expect: lstm: h and the cell in braces are of two types; begin with those that a step leaves, both under the model's layout, or with std::tuple{h, cell}
// expect: not_the_same_kind<
#ifdef COMPILE_FAIL
using cell = dm::tensor<float, whole, batch, hidden>;
#else
using cell = state;
#endif
auto f(const lstm_weights& p, const state& h, const cell& c, const series& x) {
  const auto [last, all] = nn::lstm<step, hidden, from>(m, p, {h, c}, x);
  return dm::sum(all);
}

// mistake: dim_not_in_tensor__lstm_braces
// Of what an error has been said of, braces say nothing more.
// expect: dim_not_in_tensor<other>
auto f(const lstm_weights& p, const state& h, const state& c, const series& x) {
#ifdef COMPILE_FAIL
  return nn::lstm<step, hidden, from>(m, p, {dm::sum<other>(h), c}, x);
#else
  return nn::lstm<step, hidden, from>(m, p, {h + c, c}, x);
#endif
}

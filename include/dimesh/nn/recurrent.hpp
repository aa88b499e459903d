// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What remembers along a dim? Cells with gates: long short-term memory (Hochreiter and Schmidhuber
// 1997, with forget gates by Gers et al. 2000) and gated recurrent units (Cho et al. 2014, reset
// after the product). All inputs' products are made at once, before the first step. They
// communicate as `project` does: where the model splits the hidden dim, each step gathers what it
// remembers, or sums, by the layout of From.
//
//   struct from : dm::dim<64> {};       // the hidden dim, as the step before it is read
//   nn::lstm_parameters<L, float, pixel, hidden, from> p;
//   auto [last, h] = nn::lstm<time, hidden, from>(m, p, {start, start}, x[batch, time, pixel])
//     -> last.h, last.c [batch, hidden]; h [time, batch, hidden]
//   auto [last, h] = nn::gru<time, hidden, from>(m, p, start, x)
#pragma once

#include "dimesh/grad/recur.hpp"
#include "dimesh/nn/dense.hpp"
#include "dimesh/nn/parameter.hpp"

namespace dimesh::nn {

/// The gates of an LSTM: input, forget, output, candidate.
struct lstm_gate : dim<4> {};
/// The gates of a GRU: reset, update, candidate.
struct gru_gate : dim<3> {};

/// in [In, Gate, Hidden], state [From, Gate, Hidden], bias and state_bias [Gate, Hidden]: of what
/// comes in, and of what is remembered.
template <class L, class T, class Gate, class In, class Hidden, class From>
struct recurrent_parameters {
  using in_type = parameter<normal_by_fan_in<In>, T, L, In, Gate, Hidden>;
  using state_type = parameter<normal_by_fan_in<From>, T, L, From, Gate, Hidden>;
  using bias_type = parameter<zeros, T, L, Gate, Hidden>;
  using described_by = recurrent_parameters<stating<detail::nowhere>, T, Gate, In, Hidden, From>;
  BOOST_HANA_DEFINE_STRUCT(recurrent_parameters, (in_type, in), (state_type, state),
                           (bias_type, bias), (bias_type, state_bias));
};
template <class L, class T, class In, class Hidden, class From>
using lstm_parameters = recurrent_parameters<L, T, lstm_gate, In, Hidden, From>;
template <class L, class T, class In, class Hidden, class From>
using gru_parameters = recurrent_parameters<L, T, gru_gate, In, Hidden, From>;

/// What an LSTM remembers: its output and its cell. Shapes: like each other.
template <class H> using lstm_carry = std::tuple<H, H>;

namespace detail {

struct lstm_cell_function {
  template <class I, class F, class G, class C>
  KOKKOS_INLINE_FUNCTION auto operator()(const I& in, const F& forget, const G& candidate,
                                         const C& cell) const {
    return dimesh::sigmoid(forget) * cell + dimesh::sigmoid(in) * dimesh::tanh(candidate);
  }
};
struct lstm_output_function {
  template <class O, class C>
  KOKKOS_INLINE_FUNCTION auto operator()(const O& out, const C& cell) const {
    return dimesh::sigmoid(out) * dimesh::tanh(cell);
  }
};
/// From what inputs say of the three gates, and what is remembered says of them.
struct gru_function {
  template <class R, class U, class N, class A, class B, class S, class H>
  KOKKOS_INLINE_FUNCTION auto operator()(const R& reset, const U& update, const N& candidate,
                                         const A& reset_by, const B& update_by, const S& state,
                                         const H& h) const {
    const auto u = dimesh::sigmoid(update + update_by);
    const auto n = dimesh::tanh(candidate + dimesh::sigmoid(reset + reset_by) * state);
    return n + u * (h - n);
  }
};

/// What the last step's h says of all gates.
template <class Hidden, class From, class M, class P, class H>
constexpr auto remembered(const M& m, const P& p, const H& h) {
  return add_bias(m, project(m, rename<Hidden, From>(h), p.state), p.state_bias);
}

template <class Hidden, class From, class M> struct lstm_step {
  M m;
  template <class P, class C, class Z>
  constexpr auto operator()(const P& p, const C& carry, const Z& z) const {
    const auto gates = z + remembered<Hidden, From>(m, p, std::get<0>(carry));
    const auto gate = [&gates](index_t k) { return pick<lstm_gate>(gates, k); };
    const auto cell = map_with(lstm_cell_function{}, gate(0), gate(1), gate(3), std::get<1>(carry));
    const auto h = map_with(lstm_output_function{}, gate(2), cell);
    return std::tuple{std::tuple{h, cell}, h};
  }
};
template <class Hidden, class From, class M> struct gru_step {
  M m;
  template <class P, class H, class Z>
  constexpr auto operator()(const P& p, const H& h, const Z& z) const {
    const auto state = remembered<Hidden, From>(m, p, h);
    const auto gate = [](const auto& x, index_t k) { return pick<gru_gate>(x, k); };
    const auto next = map_with(gru_function{}, gate(z, 0), gate(z, 1), gate(z, 2), gate(state, 0),
                               gate(state, 1), gate(state, 2), h);
    return std::tuple{next, next};
  }
};

/// D, if none of a tensor's dims is it.
template <class D, class X> struct lacking_dim {
  static constexpr bool has = dimesh::detail::index_of<D, typename spec_of<X>::dims> >= 0;
  using type = std::conditional_t<has, no_fault, dim_not_in_tensor<D>>;
};
template <class D, class X>
using lacking_fault = dimesh::detail::unless_poison<X, lacking_dim<D, X>>;
/// What a call names beside dims that its parameters, or the first h, do not have.
template <class Gate, class Hidden, class From, class P, class H> struct names_fault {
  using state = std::remove_cvref_t<decltype(std::declval<const P&>().state)>;
  using type =
      typename dimesh::detail::first_of<lacking_fault<Gate, state>, lacking_fault<Hidden, state>,
                                        lacking_fault<From, state>, lacking_fault<Hidden, H>>::type;
};

}  // namespace detail

/// h and cell along Time, from `start`, a tuple of both. Shapes: x [.., Time, In]; h and cell
/// [.., Hidden] under the model's layout; result: the last of both, and h [Time, .., Hidden].
template <Dim Time, Dim Hidden, Dim From, Layout C, class M, class P, class H, Operand X>
constexpr auto lstm(const model<C, M>& m, const P& p, const lstm_carry<H>& start, const X& x,
                    const recur_options& how = {}) {
  using fault = typename detail::names_fault<lstm_gate, Hidden, From, P, H>::type;
  static_assert(ok<fault>,
                "lstm: the parameters, or the first h, lack a dim that belongs to the call: take "
                "lstm_parameters of the dims in lstm<time, hidden, from>(m, p, {h, cell}, x)");
  if constexpr (!ok<fault>) {
    return std::tuple<poison, poison>{};
  } else {
    const detail::lstm_step<Hidden, From, model<C, M>> step{m};
    return recur<Time>(how, step, p, start, add_bias(m, project(m, x, p.in), p.bias));
  }
}

/// The same of a GRU, which remembers h alone.
template <Dim Time, Dim Hidden, Dim From, Layout C, class M, class P, Operand H, Operand X>
constexpr auto gru(const model<C, M>& m, const P& p, const H& start, const X& x,
                   const recur_options& how = {}) {
  using fault = typename detail::names_fault<gru_gate, Hidden, From, P, H>::type;
  static_assert(ok<fault>,
                "gru: the parameters, or the first h, lack a dim that belongs to the call: take "
                "gru_parameters of the dims in gru<time, hidden, from>(m, p, h, x)");
  if constexpr (!ok<fault>) {
    return std::tuple<poison, poison>{};
  } else {
    const detail::gru_step<Hidden, From, model<C, M>> step{m};
    return recur<Time>(how, step, p, start, add_bias(m, project(m, x, p.in), p.bias));
  }
}

}  // namespace dimesh::nn

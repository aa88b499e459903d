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
//     -> last, a tuple of h and cell [batch, hidden]; h [time, batch, hidden]
//   auto [last, h] = nn::gru<time, hidden, from>(m, p, start, x)
#pragma once

#include "dimesh/grad/recur.hpp"
#include "dimesh/nn/dense.hpp"
#include "dimesh/nn/parameter.hpp"
#include "dimesh/nn/recurrent_faults.hpp"

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

}  // namespace detail

/// h and cell along Time, from `start`, a tuple of both. Shapes: x [.., Time, In]; h and cell
/// [.., Hidden], the dims in the inputs' order; result: the last of both, and h [Time, .., Hidden].
/// Errors: h or cell lacks a dim of the inputs or has another order; is not under the model's
/// layout, as a step leaves it; has other elements. The layout splits the gates, or two dims over
/// one axis that meet in a step's product. As recur: no steps, or not as many on each rank.
template <Dim Time, Dim Hidden, Dim From, Layout C, class M, detail::RecurrentParameters P,
          Operand H, Operand K, Operand X>
constexpr auto lstm(const model<C, M>& m, const P& p, const std::tuple<H, K>& start, const X& x,
                    const recur_options& how = {}) {
  using names = typename detail::names_fault<lstm_gate, Hidden, From, P, H, K>::type;
  static_assert(ok<names>,
                "lstm: the parameters, or the first h, lack a dim that belongs to the call: take "
                "lstm_parameters of the dims in lstm<time, hidden, from>(m, p, {h, cell}, x)");
  if constexpr (!ok<names>) {
    return std::tuple<poison, poison>{};
  } else {
    const auto z = add_bias(m, project(m, x, p.in), p.bias);
    using Z = std::remove_const_t<decltype(z)>;
    using fault = typename dimesh::detail::first_of<
        typename detail::product_of_step<C, Hidden, P, H>::type,
        typename detail::start_fault<Time, lstm_gate, Z, H, K>::type>::type;
    static_assert(ok<only<fault, dim_not_in_tensor, dims_differ>>,
                  "lstm: the first h, or cell, lacks a dim of the inputs, or has another order: "
                  "theirs but time and what weights sum, then hidden; expand or permute it");
    static_assert(ok<only<fault, layouts_differ>>,
                  "lstm: the first h, or cell, is not under the model's layout, in which a step "
                  "leaves it for the next; begin with relayout<layout>(h)");
    static_assert(ok<only<fault, dim_is_split>>,
                  "lstm: the model's layout splits the gates, and a step needs all of one element; "
                  "split the hidden dim instead");
    static_assert(ok<only<fault, dims_share_mesh_axis>>,
                  "lstm: the model's layout splits two dims over one axis that meet in a step's "
                  "product; split one of them, or let one give way: split_if_free");
    static_assert(ok<only<fault, elements_differ>>,
                  "lstm: the first h, or cell, has other elements than a step leaves; cast it");
    if constexpr (!ok<fault>)
      return std::tuple<poison, poison>{};
    else
      return recur<Time>(how, detail::lstm_step<Hidden, From, model<C, M>>{m}, p, start, z);
  }
}
/// The same from {h, cell}, of one type.
template <Dim Time, Dim Hidden, Dim From, Layout C, class M, detail::RecurrentParameters P,
          Operand H, Operand X>
constexpr auto lstm(const model<C, M>& m, const P& p, const H (&start)[2], const X& x,
                    const recur_options& how = {}) {
  return nn::lstm<Time, Hidden, From>(m, p, lstm_carry<H>{start[0], start[1]}, x, how);
}

/// The same of a GRU, which remembers h alone.
template <Dim Time, Dim Hidden, Dim From, Layout C, class M, detail::RecurrentParameters P,
          Operand H, Operand X>
constexpr auto gru(const model<C, M>& m, const P& p, const H& start, const X& x,
                   const recur_options& how = {}) {
  constexpr bool swapped =
      !is_poison<X> && detail::has_dim<Time, H>() && !detail::has_dim<Time, X>();
  using names = typename detail::names_fault<gru_gate, Hidden, From, P, H>::type;
  static_assert(ok<detail::fault_if<swapped, wrong_arguments<H, X>>>,
                "gru: the inputs stand where the first h belongs, and it in their place: "
                "gru<time, hidden, from>(m, p, h, x)");
  static_assert(swapped || ok<names>,
                "gru: the parameters, or the first h, lack a dim that belongs to the call: take "
                "gru_parameters of the dims in gru<time, hidden, from>(m, p, h, x)");
  if constexpr (swapped || !ok<names>) {
    return std::tuple<poison, poison>{};
  } else {
    const auto z = add_bias(m, project(m, x, p.in), p.bias);
    using Z = std::remove_const_t<decltype(z)>;
    using fault = typename dimesh::detail::first_of<
        typename detail::product_of_step<C, Hidden, P, H>::type,
        typename detail::start_fault<Time, gru_gate, Z, H>::type>::type;
    static_assert(ok<only<fault, dim_not_in_tensor, dims_differ>>,
                  "gru: the first h lacks a dim of the inputs, or has another order: theirs but "
                  "time and what weights sum, then hidden; expand or permute it");
    static_assert(ok<only<fault, layouts_differ>>,
                  "gru: the first h is not under the model's layout, in which a step leaves it for "
                  "the next; begin with relayout<layout>(h)");
    static_assert(ok<only<fault, dim_is_split>>,
                  "gru: the model's layout splits the gates, and a step needs all of one element; "
                  "split the hidden dim instead");
    static_assert(ok<only<fault, dims_share_mesh_axis>>,
                  "gru: the model's layout splits two dims over one axis that meet in a step's "
                  "product; split one of them, or let one give way: split_if_free");
    static_assert(ok<only<fault, elements_differ>>,
                  "gru: the first h has other elements than a step leaves; cast it");
    if constexpr (!ok<fault>)
      return std::tuple<poison, poison>{};
    else
      return recur<Time>(how, detail::gru_step<Hidden, From, model<C, M>>{m}, p, start, z);
  }
}

// What these say to other arguments, or to the same in another order.
template <class... Named, class M, class P, class S, class X>
  requires(!(detail::begins_cell<M, P, Named...> && detail::is_pair<S> && Operand<X>))
constexpr std::tuple<poison, poison> lstm(const M&, const P&, const S&, const X&,
                                          const recur_options& = {}) {
  constexpr bool begins = detail::begins_cell<M, P, Named...>;
  constexpr bool one = begins && Operand<S> && Operand<X>;
  constexpr bool swapped = begins && Operand<S> && detail::is_pair<X>;
  static_assert(ok<detail::fault_if<one, wrong_arguments<S>>>,
                "lstm: it remembers two tensors, and begins with one here: begin with h and a "
                "cell, as in lstm<time, hidden, from>(m, p, {h, cell}, x)");
  static_assert(ok<detail::fault_if<swapped, wrong_arguments<S, X>>>,
                "lstm: the inputs stand where the first h and cell belong, and these in their "
                "place: lstm<time, hidden, from>(m, p, {h, cell}, x)");
  static_assert(ok<detail::fault_if<!one && !swapped, wrong_arguments<M, P, S, X>>>,
                "lstm: the arguments are a model, lstm_parameters, the first h and cell, and "
                "inputs: lstm<time, hidden, from>(m, p, {h, cell}, x)");
  return {};
}
template <class... Named, class M, class P, class S, class X>
  requires(!(detail::begins_cell<M, P, Named...> && Operand<S> && Operand<X>))
constexpr std::tuple<poison, poison> gru(const M&, const P&, const S&, const X&,
                                         const recur_options& = {}) {
  constexpr bool several =
      detail::begins_cell<M, P, Named...> && (detail::is_pair<S> || detail::is_pair<X>);
  static_assert(ok<detail::fault_if<several, wrong_arguments<S, X>>>,
                "gru: it remembers h alone, and begins with more here: begin with h, as in "
                "gru<time, hidden, from>(m, p, h, x), or take an lstm");
  static_assert(ok<detail::fault_if<!several, wrong_arguments<M, P, S, X>>>,
                "gru: the arguments are a model, gru_parameters, the first h, and inputs: "
                "gru<time, hidden, from>(m, p, h, x)");
  return {};
}
// The same of what stands in braces.
template <class... Named, class M, class P, class X>
constexpr std::tuple<poison, poison> lstm(const M&, const P&, const detail::two_unlike&, const X&,
                                          const recur_options& = {}) {
  return {};
}
template <class... Named, class M, class P, Operand S, class H>
constexpr auto lstm(const M& m, const P& p, const S& s, const H (&x)[2],
                    const recur_options& how = {}) {
  return nn::lstm<Named...>(m, p, s, lstm_carry<H>{x[0], x[1]}, how);
}
template <class... Named, class M, class P, class H, class X>
constexpr auto gru(const M& m, const P& p, const H (&s)[2], const X& x,
                   const recur_options& how = {}) {
  return nn::gru<Named...>(m, p, lstm_carry<H>{s[0], s[1]}, x, how);
}

}  // namespace dimesh::nn

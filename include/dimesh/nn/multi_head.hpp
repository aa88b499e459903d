// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do positions look at each other? By queries and keys in several heads. Under a layout that
// splits heads, a rank computes its heads alone; under one that splits the length, it computes its
// queries and gathers keys and values.
//
//   self_attention(m, p, x[batch, length, model])             -> like x, without the last bias
//   cross_attention(m, p, x, memory[batch, source, model])    -> the same
#pragma once

#include "dimesh/nn/dense.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/rename.hpp"
#include "dimesh/op/rotary.hpp"
#include "dimesh/op/whole.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::nn {

/// query [model, heads..., head], key and value [model, key heads..., head], output [heads...,
/// head, model], and a bias of each.
template <class L, class M> struct attention_parameters {
  using model = typename M::model;
  using heads = typename M::heads;
  using key_heads = typename key_heads_of<M>::type;
  using head = typename M::head;
  using key_type = weight<L, M, model, key_heads, head>;
  using query_bias_type = bias<L, M, M::biases, heads, head>;
  using key_bias_type = bias<L, M, M::biases, key_heads, head>;
  using output_bias_type = bias<L, M, M::biases, model>;
  using described_by = attention_parameters<stating<detail::nowhere>, M>;
  BOOST_HANA_DEFINE_STRUCT(attention_parameters, (weight<L, M, model, heads, head>, query),
                           (query_bias_type, query_bias), (key_type, key),
                           (key_bias_type, key_bias), (key_type, value),
                           (key_bias_type, value_bias),
                           (output_weight<L, M, heads, head, model>, output),
                           (output_bias_type, output_bias));
};

namespace detail {

template <class C, class M, class X, class W, class B>
constexpr auto heads_of(const model<C, M>& m, const X& x, const W& w, const B& b) {
  if constexpr (M::biases)
    return dense(m, identity_activation{}, x, w, b);
  else
    return dense(m, identity_activation{}, x, w);
}
/// The same in the parameters' precision, in which scores are weighed, whatever the activations'
/// is.
template <class C, class M, class X, class W, class B>
constexpr auto precise_heads_of(const model<C, M>& m, const X& x, const W& w, const B& b) {
  if constexpr (std::is_same_v<typename M::element, value_of<X>>)
    return heads_of(m, x, w, b);
  else
    return cast<typename M::element>(heads_of(m, x, w, b));
}

/// x under the layout that it needs beside heads: gathered once for queries, keys and values.
template <class C, class M, class X, class... H>
constexpr decltype(auto) beside_heads(const model<C, M>& m, const X& x, tag<shape<H...>>) {
  return brought_beside<H..., typename M::head>(m, x);
}

/// X has D, and no axis splits it, as its type says.
template <class D, class X>
inline constexpr bool is_whole = dimesh::detail::index_of<D, typename spec_of<X>::dims> >= 0 &&
                                 !dimesh::detail::may_be_split<D, X>();
/// Keys or values of x [.., Length, ..] for every query: [.., Key, ..], whole along Key. x itself
/// where it is that.
template <class Length, class Key, class X> constexpr decltype(auto) for_all_queries(const X& x) {
  if constexpr (is_poison<X>) {
    return poison{};
  } else if constexpr (std::is_same_v<Length, Key>) {
    if constexpr (is_whole<Key, X>)
      return (x);
    else
      return whole<Key>(x);
  } else {
    if constexpr (is_whole<Length, X>)
      return rename<Length, Key>(x);
    else
      return whole<Key>(rename<Length, Key>(x));
  }
}

/// Where activations have fewer bits than TF32, a device's matrix units may multiply.
template <class X> constexpr attention_options options_for(attention_options o) {
  o.short_factors = is_storage_only<value_of<X>>;
  return o;
}

/// Attention of `in` to the positions of `seen`, which lie along Length and are called Key; both
/// are ready for the products with the heads. `hidden`: which of them are not to be seen, as
/// `attention` takes it.
template <class Length, class Key, class C, class M, class P, class X, class Y, class... Hidden>
constexpr auto attend(const model<C, M>& m, const P& p, const X& in, const Y& seen,
                      const attention_options& given, const Hidden&... hidden) {
  if constexpr (is_poison<X> || is_poison<Y>) {
    return poison{};
  } else {
    const attention_options options = options_for<X>(given);
    using length = typename M::length;
    using head = typename M::head;
    const auto q = precise_heads_of(m, in, p.query, p.query_bias);
    const auto k = precise_heads_of(m, seen, p.key, p.key_bias);
    const auto v = precise_heads_of(m, seen, p.value, p.value_bias);
    const auto mixed = [&] {
      if constexpr (M::positions == position_kind::rotary && std::is_same_v<Length, length>)
        return attention<length, Key, head>(rotary<length, head>(q),
                                            for_all_queries<Length, Key>(rotary<length, head>(k)),
                                            for_all_queries<Length, Key>(v), options, hidden...);
      else
        return attention<length, Key, head>(q, for_all_queries<Length, Key>(k),
                                            for_all_queries<Length, Key>(v), options, hidden...);
    }();
    return project(m, in_elements<value_of<X>>(mixed), p.output);
  }
}

}  // namespace detail

/// Attention of positions to those before them (M::causal) or all, M::window of them at most; the
/// bias of the last product is left to the residual sum. Shapes: as x. Communicates as project
/// does, and gathers keys and values where the length is split (Vaswani et al. 2017, section 3.2).
template <Layout C, class M, class P, Operand X>
constexpr auto self_attention(const model<C, M>& m, const P& p, const X& x) {
  using length = typename M::length;
  const auto& in = detail::beside_heads(m, x, detail::tag<typename M::heads>{});
  return detail::attend<length, keys_of<length>>(
      m, p, in, in,
      attention_options{
          .causal = M::causal, .window = M::window, .dropout = m.run.rate(), .key = m.run.key});
}

/// Attention of the positions of x to all of `memory` [.., source, model]: an encoder's result.
template <Layout C, class M, class P, Operand X, Operand Y>
constexpr auto cross_attention(const model<C, M>& m, const P& p, const X& x, const Y& memory) {
  using source = typename M::source;
  return detail::attend<source, source>(
      m, p, detail::beside_heads(m, x, detail::tag<typename M::heads>{}),
      detail::beside_heads(m, memory, detail::tag<typename key_heads_of<M>::type>{}),
      attention_options{.dropout = m.run.rate(), .key = m.run.key});
}

}  // namespace dimesh::nn

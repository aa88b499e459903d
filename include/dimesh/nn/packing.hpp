// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a language model read several sequences in one row, as input::pack puts them there? Each
// place looks at those of its own segment only, and counts its position from that sequence's
// beginning: losses and gradients are those of the same sequences in rows of their own.
//
//   features(m, p, ids, segments, positions)         -> [batch, length, model]
//   logits(m, p, ids, segments, positions)           -> [batch, length, vocab]
//   loss(m, p, ids, segments, positions, next)       -> the mean over the tokens of `next`
//
// All of them [batch, length]; `next` is -1 where a sequence ends and where the row is filled up,
// as input::followed gives it (io/data/pack.hpp).
#pragma once

#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/expand.hpp"

namespace dimesh::nn {

namespace detail {

/// What attention hides by: the segments of queries, and those of all keys. The same for all
/// layers, so they are gathered once.
template <class C, class M, class S>
constexpr auto segments_of_queries(const model<C, M>& m, const S& segments) {
  return beside_heads(m, stop_gradient(segments), tag<typename M::heads>{});
}
template <class C, class M, class S>
constexpr auto segments_of_keys(const model<C, M>& m, const S& segments) {
  using length = typename M::length;
  return for_all_queries<length, keys_of<length>>(
      beside_heads(m, stop_gradient(segments), tag<typename key_heads_of<M>::type>{}));
}

/// Attention within segments as a function that `recompute` can run twice. Rotations are by places
/// of the row: a query and a key of one sequence are as far apart there as in a row of their own,
/// and their product depends on nothing else.
template <class Model> struct packed_attention {
  Model m;
  template <class P, class X, class Q, class K>
  constexpr auto operator()(const P& p, const X& x, const Q& of_queries, const K& of_keys) const {
    using M = typename Model::config;
    using length = typename M::length;
    const auto in = beside_heads(m, x, tag<typename M::heads>{});
    return attend<length, keys_of<length>>(
        m, p, in, in,
        attention_options{
            .causal = M::causal, .window = M::window, .dropout = m.run.rate(), .key = m.run.key},
        of_queries, of_keys);
  }
};
template <class C, class M> struct packed_block {
  model<C, M> m;
  template <class P, class X, class Q, class K>
  constexpr auto operator()(const P& p, const X& x, const Q& of_queries, const K& of_keys) const {
    if constexpr (M::cross) {
      return block(m, p, x);  // says that an encoder's result is missing
    } else {
      const auto at = m.part("attention");
      const packed_attention<model<C, M>> f{at};
      const auto seen = attention_by<M>(f, p.attention, norm(at, p.norm1, x), of_queries, of_keys);
      return add_feed_forward(m.part("feed_forward"), p,
                              add_to_stream(at.part("residual"), x, seen, p.attention.output_bias));
    }
  }
};

/// add_positions at places that are given: rows of a table, under another name for the length.
template <class C, class M, class P, class X, class I>
constexpr auto add_positions_at(const model<C, M>& m, const P& p, const X& x, const I& positions) {
  using length = typename M::length;
  using place = keys_of<length>;
  const auto take_from = [&](const auto& table) {
    return relayout<C>(take<place>(table, beside_tensor(m, x, stop_gradient(positions))));
  };
  if constexpr (M::positions == position_kind::learned) {
    return x + take_from(beside_tensor(m, x, rename<length, place>(p.positions)));
  } else if constexpr (M::positions == position_kind::sinusoidal) {
    place all;
    if constexpr (!is_static_dim<place>)
      dimesh::detail::number_in(all) = x.template extent<length>();
    const auto form = expand<place>(beside_tensor(m, x, stop_gradient(p.last.gain)), all);
    return x + take_from(waves<place, typename M::model>(form));
  } else {
    return x;
  }
}

}  // namespace detail

/// What the model makes of packed rows. Shapes: ids, segments and positions [batch, length] ->
/// [batch, length, model]. Communicates as the model does, and the segments where the length is
/// split.
template <class C, class Form, detail::HasEmbedding P, Operand I, Operand S, Operand W>
constexpr auto features(const language_model<C, Form>& m, const P& p, const I& ids,
                        const S& segments, const W& positions) {
  using net = language_model<C, Form>;
  if constexpr (!net::template arguments_fit<P, I, S, W>()) {
    return poison{};
  } else {
    using M = typename net::M;
    const model<C, M>& of = m;
    const auto first = of.part("embedding");
    const auto of_queries = detail::segments_of_queries(of, segments);
    const auto of_keys = detail::segments_of_keys(of, segments);
    auto x = dropout(first.run.rate(), first.run.key,
                     detail::add_positions_at(of, p, embed(of, p.embedding, ids), positions));
    for (std::size_t i = 0; i < p.layers.size(); ++i) {
      const detail::packed_block<C, M> f{of.part("layers", i)};
      if constexpr (detail::recomputes<M> == recomputing::layers)
        x = recompute(f)(p.layers[i], x, of_queries, of_keys);
      else
        x = f(p.layers[i], x, of_queries, of_keys);
    }
    return norm(of, p.last, x);
  }
}

/// The logits of what follows each place. Shapes: ids, segments and positions [batch, length] ->
/// [batch, length, vocab].
template <class C, class Form, detail::HasEmbedding P, Operand I, Operand S, Operand W>
constexpr auto logits(const language_model<C, Form>& m, const P& p, const I& ids, const S& segments,
                      const W& positions) {
  using net = language_model<C, Form>;
  const auto h = nn::features(m, p, ids, segments, positions);
  if constexpr (is_poison<decltype(h)>)
    return poison{};
  else
    return detail::scores_of<C, typename net::M>(m, p, h);
}

/// The mean loss in nats of the tokens of `next`; places where it is -1 do not count: a sum yet to
/// be made along axes that split rows or vocabulary. Shapes: ids, segments, positions and next
/// [batch, length].
template <class C, class Form, detail::HasEmbedding P, Operand I, Operand S, Operand W, Operand J>
constexpr auto loss(const language_model<C, Form>& m, const P& p, const I& ids, const S& segments,
                    const W& positions, const J& next, const cross_entropy_options& o = {}) {
  if constexpr (!language_model<C, Form>::template arguments_fit<P, I, S, W, J>())
    return poison{};
  else
    return m.loss_of(nn::logits(m, p, ids, segments, positions), next, o);
}

}  // namespace dimesh::nn

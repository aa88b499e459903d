// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a model read sentences of several lengths at once? They are filled up to one length, and
// nobody looks at what fills them: attention is given valid[batch, source], 1 where there is a
// token and 0 where there is none.
//
//   self_attention(m, p, x[batch, length, model], valid[batch, length])
//   cross_attention(m, p, x, memory[batch, source, model], valid[batch, source])
//   encode(m, p, source_ids, valid)      decode(m, p, memory, valid, ids)      // encoder_decoder
//   loss(m, p, source_ids, valid, ids, next)    -> the mean over the tokens of `next`
//
// Targets need no such mask: a causal decoder sees no later position, and `next` is -1 there.
#pragma once

#include "dimesh/nn/encoder_decoder.hpp"
#include "dimesh/op/compare.hpp"

namespace dimesh::nn {

namespace detail {

/// `attend` of multi_head.hpp, to the valid positions of `seen`.
template <class Length, class Key, class C, class M, class P, class X, class Y, class W>
constexpr auto attend_to_valid(const model<C, M>& m, const P& p, const X& in, const Y& seen,
                               const W& valid, const attention_options& options) {
  if constexpr (is_poison<X> || is_poison<Y> || is_poison<W>) {
    return poison{};
  } else {
    using length = typename M::length;
    using head = typename M::head;
    const auto turned = [](const auto& rows) {
      if constexpr (M::positions == position_kind::rotary && std::is_same_v<Length, length>)
        return rotary<length, head>(rows);
      else
        return rows;
    };
    const auto q = turned(precise_heads_of(m, in, p.query, p.query_bias));
    const auto k =
        for_all_queries<Length, Key>(turned(precise_heads_of(m, seen, p.key, p.key_bias)));
    const auto v = for_all_queries<Length, Key>(precise_heads_of(m, seen, p.value, p.value_bias));
    const auto there = for_all_queries<Length, Key>(beside_tensor(m, k, stop_gradient(valid) > 0));
    const auto mixed = attention<length, Key, head>(q, k, v, options_for<X>(options), there);
    return project(m, in_elements<value_of<X>>(mixed), p.output);
  }
}

}  // namespace detail

/// self_attention to the positions where valid[.., length] is 1. Shapes: as x.
template <Layout C, class M, class P, Operand X, Operand W>
constexpr auto self_attention(const model<C, M>& m, const P& p, const X& x, const W& valid) {
  using length = typename M::length;
  const auto& in = detail::beside_heads(m, x, detail::tag<typename M::heads>{});
  return detail::attend_to_valid<length, keys_of<length>>(
      m, p, in, in, valid,
      attention_options{
          .causal = M::causal, .window = M::window, .dropout = m.run.rate(), .key = m.run.key});
}

/// cross_attention to the positions of `memory` where valid[.., source] is 1. Shapes: as x.
template <Layout C, class M, class P, Operand X, Operand Y, Operand W>
constexpr auto cross_attention(const model<C, M>& m, const P& p, const X& x, const Y& memory,
                               const W& valid) {
  using source = typename M::source;
  return detail::attend_to_valid<source, source>(
      m, p, detail::beside_heads(m, x, detail::tag<typename M::heads>{}),
      detail::beside_heads(m, memory, detail::tag<typename key_heads_of<M>::type>{}), valid,
      attention_options{.dropout = m.run.rate(), .key = m.run.key});
}

namespace detail {

/// Attention to what is valid as a function that `recompute` can run twice.
template <class Model> struct padded_attention {
  Model m;
  template <class P, class X, class W>
  constexpr auto operator()(const P& p, const X& x, const W& valid) const {
    return self_attention(m, p, x, valid);
  }
  template <class P, class X, class Y, class W>
  constexpr auto operator()(const P& p, const X& x, const Y& memory, const W& valid) const {
    return cross_attention(m, p, x, memory, valid);
  }
};
/// A layer of an encoder, given valid, or of a decoder, given memory and valid.
template <class C, class M> struct padded_block {
  model<C, M> m;

  template <class P, class X, class W>
  constexpr auto operator()(const P& p, const X& x, const W& valid) const {
    const auto at = m.part("attention");
    const padded_attention<model<C, M>> f{at};
    const auto seen = attention_by<M>(f, p.attention, norm(at, p.norm1, x), valid);
    return add_feed_forward(m.part("feed_forward"), p,
                            add_to_stream(at.part("residual"), x, seen, p.attention.output_bias));
  }
  template <class P, class X, class Y, class W>
  constexpr auto operator()(const P& p, const X& x, const Y& memory, const W& valid) const {
    const auto h = add_attention(m.part("attention"), p, x);
    const auto at = m.part("cross");
    const padded_attention<model<C, M>> f{at};
    const auto seen = attention_by<M>(f, p.cross, norm(at, p.cross_norm, h), memory, valid);
    return add_feed_forward(m.part("feed_forward"), p,
                            add_to_stream(at.part("residual"), h, seen, p.cross.output_bias));
  }
};

/// What language_model::features computes, with layers that are given Y.
template <class C, class M, class P, class I, class... Y>
constexpr auto padded_features(const model<C, M>& m, const P& p, const I& ids, const Y&... y) {
  const auto first = m.part("embedding");
  auto x = dropout(first.run.rate(), first.run.key,
                   add_positions(m, p.positions, embed(m, p.embedding, ids)));
  for (std::size_t i = 0; i < p.layers.size(); ++i) {
    const padded_block<C, M> f{m.part("layers", i)};
    if constexpr (recomputes<M> == recomputing::layers)
      x = recompute(f)(p.layers[i], x, y...);
    else
      x = f(p.layers[i], x, y...);
  }
  return norm(m, p.last, x);
}

}  // namespace detail

/// What the encoder makes of sentences: rows at places that are not valid mean nothing. Shapes: ids
/// and valid [batch, source] -> [batch, source, model]. Communicates as the model does.
template <class C, class Form, class P, Operand I, Operand W>
constexpr auto encode(const encoder_decoder<C, Form>& m, const P& p, const I& ids, const W& valid) {
  if constexpr (!detail::CompletePair<Form>) {
    return poison{};
  } else {
    using M = typename encoder_decoder<C, Form>::encoder_type::M;
    return detail::padded_features<C, M>(m.encoder(), p.encoder, ids, valid);
  }
}

/// The logits of what follows each position. Shapes: memory [batch, source, model], valid [batch,
/// source], ids [batch, length] -> [batch, length, vocab]. Communicates as the model does.
template <class C, class Form, class P, Operand Y, Operand W, Operand I>
constexpr auto decode(const encoder_decoder<C, Form>& m, const P& p, const Y& memory,
                      const W& valid, const I& ids) {
  if constexpr (!detail::CompletePair<Form>) {
    return poison{};
  } else {
    using M = typename encoder_decoder<C, Form>::decoder_type::M;
    const auto d = m.decoder();
    return detail::scores_of(d, p.decoder,
                             detail::padded_features<C, M>(d, p.decoder, ids, memory, valid));
  }
}

/// The mean loss in nats of the tokens of `next`, the others being negative: a sum yet to be made
/// along axes that split rows or vocabulary. Shapes: source_ids and valid [batch, source], ids and
/// next [batch, length].
template <class C, class Form, class P, Operand S, Operand W, Operand I, Operand J>
constexpr auto loss(const encoder_decoder<C, Form>& m, const P& p, const S& source_ids,
                    const W& valid, const I& ids, const J& next,
                    const cross_entropy_options& o = {}) {
  if constexpr (!detail::CompletePair<Form>) {
    return poison{};
  } else {
    using vocab = typename source_form_of<Form>::vocab;
    const auto scores = decode(m, p, encode(m, p, source_ids, valid), valid, ids);
    const auto to = beside_tensor(m.decoder(), scores, next);
    return mean_of_tokens(softmax_cross_entropy<vocab>(scores, to, o), to);
  }
}

}  // namespace dimesh::nn

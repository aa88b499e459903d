// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a language model go on with a text? It is given the next tokens, looks at what it kept
// of those before, and says what may follow the last of them.
//
//   text_cache<C, form> kept(g);
//   auto logits = feed(m, p, ids[batch, next_tokens], kept);     // [batch, vocab]
//   auto more = feed(m, p, one[batch, next_tokens], kept);       // of one token each
//
// What it gives is what m.logits(p, all tokens) gives of the last position.
#pragma once

#include "dimesh/create.hpp"
#include "dimesh/nn/generate/cache.hpp"
#include "dimesh/nn/generate/split_keys.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/slice.hpp"

namespace dimesh::nn {

/// Attention of the next tokens to all so far, which are kept from now on: x are those from
/// position `at` on. What multi_head.hpp's gives of their places. Shapes: as x [batch, next_tokens,
/// model].
template <Layout C, class M, class P, Operand X, class Form>
auto self_attention(const model<C, form_of_next<M>>& m, const P& p, const X& x,
                    layer_cache<C, Form>& kept, index_t at) {
  using head = typename M::head;
  using length = typename M::length;
  using key = keys_of<length>;
  const auto& in = detail::beside_heads(m, x, detail::tag<typename M::heads>{});
  const auto turned = [&](const auto& rows) {
    if constexpr (M::positions == position_kind::rotary)
      return rotary<next_tokens, head>(rows, 10000, at);
    else
      return rows;
  };
  const auto q = turned(detail::precise_heads_of(m, in, p.query, p.query_bias));
  const auto k = turned(detail::precise_heads_of(m, in, p.key, p.key_bias));
  const auto v = detail::precise_heads_of(m, in, p.value, p.value_bias);
  using L = typename detail::kept_along<C, M>::layout_type;
  detail::store_rows(kept.key, at, detail::brought<L>(k));
  detail::store_rows(kept.value, at, detail::brought<L>(v));
  const attention_options options{.causal = true, .window = M::window, .offset = at};
  const auto mixed = [&](const auto& keys, const auto& values) {
    using kept_type = std::remove_cvref_t<decltype(keys)>;
    if constexpr (is_split<spec_of<kept_type>, key>)
      return detail::attention_all_reduce<next_tokens, key, head>(q, keys, values, options);
    else
      return attention<next_tokens, key, head>(q, keys, values, options);
  }(rename<length, key>(kept.key), rename<length, key>(kept.value));
  return project(m, detail::in_elements<value_of<X>>(mixed), p.output);
}

namespace detail {
/// The numbers of the places from one on.
struct place_after {
  index_t first;
  KOKKOS_INLINE_FUNCTION std::int32_t operator()(index_t i) const {
    return static_cast<std::int32_t>(first + i);
  }
};
}  // namespace detail

/// add_positions to the tokens from position `at` on. Shapes: as x [batch, next_tokens, model].
template <Layout C, class M, class P, Operand X>
auto add_positions(const model<C, form_of_next<M>>& m, const P& p, const X& x, index_t at) {
  if constexpr (M::positions == position_kind::learned) {
    using numbers = tensor<std::int32_t, layout<typename C::mesh>, next_tokens>;
    const auto places = dimesh::generate<numbers>(x.grid(), detail::place_after{at},
                                                  next_tokens{x.template extent<next_tokens>()});
    return x + detail::brought_to(m, x, relayout<C>(take<typename M::length>(p, places)));
  } else if constexpr (M::positions == position_kind::sinusoidal) {
    return x + waves<next_tokens, typename M::model>(x, 10000, at);
  } else {
    return x;
  }
}

namespace detail {

/// Source: in a decoder, what is kept of the source, and which places of it are tokens.
template <class C, class M, class P, class X, class Cache, class... Source>
auto block_of_next(const model<C, form_of_next<M>>& m, const P& p, const X& x, Cache& kept,
                   index_t at, const Source&... source) {
  const auto h = add_to_stream(m, x, self_attention(m, p.attention, norm(m, p.norm1, x), kept, at),
                               p.attention.output_bias);
  if constexpr (sizeof...(Source) == 0)
    return add_feed_forward(m, p, h);
  else
    return add_feed_forward(
        m, p,
        add_to_stream(m, h, cross_attention(m, p.cross, norm(m, p.cross_norm, h), source...),
                      p.cross.output_bias));
}

template <class C, class M, class P, class I, class Cache, class... Source>
auto fed(const P& p, const I& ids, Cache& kept, const Source&... source) {
  const index_t n = ids.template extent<next_tokens>(), at = kept.filled;
  const index_t length =
      kept.layers.empty() ? at + n : kept.layers[0].key.template extent<typename M::length>();
  if (n < 1 || at + n > length)
    (dimesh::detail::words() << "feed: " << n << " tokens after " << at << " do not fit the length "
                             << length << "; give at least one, and as many as the length has left")
        .raise();
  const model<C, form_of_next<M>> m;
  auto x = add_positions(m, p.positions, embed(m, p.embedding, ids), at);
  for (std::size_t i = 0; i < kept.layers.size(); ++i)
    x = block_of_next<C, M>(m, p.layers[i], x, kept.layers[i], at, source.layers[i]...,
                            source.valid...);
  kept.filled = at + n;
  const auto last = norm(m, p.last, pick<next_tokens>(x, n - 1));
  if constexpr (M::tied)
    return project<typename M::element>(m, last, p.embedding);
  else
    return project<typename M::element>(m, last, p.head);
}

}  // namespace detail

/// The logits of what may follow, after these tokens are added to the text. Without dropout.
/// Shapes: ids [batch, next_tokens], at least one token each -> [batch, vocab]. Communicates as the
/// model does. Throws dimesh::error where there are no tokens, or more than the length holds.
template <Layout C, class Form, class P, Operand I>
auto feed(const language_model<C, Form>&, const P& p, const I& ids, text_cache<C, Form>& kept) {
  using M = form_of<Form>;
  static_assert(M::causal && !M::cross,
                "feed: the model looks ahead, or at an encoder's result; give one that is causal "
                "and on its own");
  if constexpr (!M::causal || M::cross)
    return poison{};
  else
    return detail::fed<C, M>(p, ids, kept);
}

}  // namespace dimesh::nn

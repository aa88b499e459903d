// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a decoder keep while it writes what it reads in another text? The keys and values of
// what it has written, as a language model does, and those of the source: these once for all
// tokens. A new token costs the products of one token.
//
//   auto kept = read_source(m, p, source_ids, valid);            // runs the encoder, once
//   auto logits = feed(m, p, ids[batch, next_tokens], kept);     // [batch, vocab]
//
// What it gives is what decode(m, p, memory, valid, all tokens) gives of the last position.
#pragma once

#include "dimesh/nn/generate/step.hpp"
#include "dimesh/nn/padding.hpp"

namespace dimesh::nn {

/// What a layer keeps of the source: keys and values [batch, source, key heads..., head], under the
/// layout of those of its own text, and whole along the source.
template <Layout C, class Form> struct source_layer {
  using M = source_form_of<Form>;
  using rows_type = typename detail::kept_along<C, M, typename M::source>::whole_type;
  rows_type key{}, value{};
};

/// What all layers keep of the source, and which places of it are tokens: valid [batch, source].
template <Layout C, class Form> struct source_cache {
  using M = source_form_of<Form>;
  using layout_type = typename detail::kept_along<C, M, typename M::source>::layout_type;
  std::vector<source_layer<C, Form>> layers{};
  tensor<bool, layout_type, typename M::batch, typename M::source> valid{};

  source_cache() = default;
  /// No layers yet. Communicates as relayout does.
  template <Operand W>
  explicit source_cache(const W& which) : valid(relayout<layout_type>(stop_gradient(which) > 0)) {}
};

/// What a decoder keeps: of its text, and of the source.
template <Layout C, class Form>
struct translation_cache : text_cache<C, decoder_of<source_form_of<Form>>> {
  using text_type = text_cache<C, decoder_of<source_form_of<Form>>>;
  source_cache<C, Form> source{};

  translation_cache() = default;
  template <class G>
  translation_cache(const G& g, source_cache<C, Form> of) : text_type(g), source(std::move(of)) {}
};

/// Keys and values that attention with parameters p makes of an encoder's result. Shapes: memory
/// [batch, source, model]. Communicates as cross_attention does of it.
template <class Form, Layout C, class M, class P, Operand Y>
source_layer<C, Form> source_rows(const model<C, M>& m, const P& p, const Y& memory) {
  using L = typename source_cache<C, Form>::layout_type;
  const auto& seen = detail::beside_heads(m, memory, detail::tag<typename key_heads_of<M>::type>{});
  return {relayout<L>(detail::precise_heads_of(m, seen, p.key, p.key_bias)),
          relayout<L>(detail::precise_heads_of(m, seen, p.value, p.value_bias))};
}

/// cross_attention of the next tokens to what is kept of the source. Shapes: as x [batch,
/// next_tokens, model].
template <Layout C, class M, class P, Operand X, class Form, Operand W>
auto cross_attention(const model<C, form_of_next<M>>& m, const P& p, const X& x,
                     const source_layer<C, Form>& kept, const W& valid) {
  const auto& in = detail::beside_heads(m, x, detail::tag<typename M::heads>{});
  const auto q = detail::precise_heads_of(m, in, p.query, p.query_bias);
  const auto mixed = attention<next_tokens, typename M::source, typename M::head>(
      q, kept.key, kept.value, attention_options{}, valid);
  return project(m, detail::in_elements<value_of<X>>(mixed), p.output);
}

namespace detail {
template <class C, class Form, class P, class Y, class W>
auto with_memory(const encoder_decoder<C, Form>& m, const P& p, const Y& memory, const W& valid) {
  source_cache<C, Form> kept(valid);
  for (const auto& layer : p.decoder.layers)
    kept.layers.push_back(source_rows<Form>(m.decoder(), layer.cross, memory));
  return translation_cache<C, Form>(memory.grid(), std::move(kept));
}
}  // namespace detail

/// The encoder's work, and what the decoder's layers keep of it; nothing is written yet. Without
/// dropout. Shapes: ids and valid [batch, source], valid 0 where there is no token; without it, all
/// are. Communicates as the model does.
template <Layout C, class Form, class P, Operand I, Operand W>
auto read_source(const encoder_decoder<C, Form>&, const P& p, const I& ids, const W& valid) {
  if constexpr (!detail::CompletePair<Form>) {
    return poison{};
  } else {
    const encoder_decoder<C, Form> m;
    return detail::with_memory(m, p, encode(m, p, ids, valid), valid);
  }
}
template <Layout C, class Form, class P, Operand I>
auto read_source(const encoder_decoder<C, Form>&, const P& p, const I& ids) {
  if constexpr (!detail::CompletePair<Form>) {
    return poison{};
  } else {
    const encoder_decoder<C, Form> m;
    return detail::with_memory(m, p, m.encode(p, ids), ids == ids);  // all valid
  }
}

/// The logits of what may follow, after these tokens are added to what is written. Without dropout.
/// Shapes: ids [batch, next_tokens], at least one token each -> [batch, vocab]. Communicates as the
/// model does. Throws dimesh::error where there are no tokens, or more than the length holds.
template <Layout C, class Form, class P, Operand I>
auto feed(const encoder_decoder<C, Form>&, const P& p, const I& ids,
          translation_cache<C, Form>& kept) {
  if constexpr (!detail::CompletePair<Form>) {
    return poison{};
  } else {
    using M = decoder_of<source_form_of<Form>>;
    static_assert(M::causal, "feed: the decoder looks ahead; give one that is causal");
    if constexpr (!M::causal)
      return poison{};
    else
      return detail::fed<C, M>(p.decoder, ids, kept, kept.source);
  }
}

}  // namespace dimesh::nn

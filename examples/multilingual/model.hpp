// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is trained? An encoder and a decoder as GShard has them (Lepikhin et al. 2020): in every
// other layer a mixture of experts stands for the feed-forward layer. A token goes to one expert
// (Fedus et al. 2021), so that any number of experts costs what one does, and one expert is the
// dense model. Which ranks hold which experts, and what of each, is one line.
#pragma once

#include <dimesh/dimesh.hpp>
#include <dimesh/nn/generate/source_cache.hpp>
#include <dimesh/nn/moe/experts.hpp>
#include <dimesh/op/merge.hpp>

#include "settings.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;

struct batch : dm::dim<64> {};
struct source : dm::dim<32> {};  // symbols of a sentence in any language
struct length : dm::dim<16> {};  // and of what it is in English
// Symbols stand in line for experts in groups of eight sentences, so that an expert may take most
// of a sentence, or of a language.
struct group : dm::dim<8> {};
struct member : dm::dim<8> {};
struct source_symbol : dm::dim<8 * source::extent> {};
struct english_symbol : dm::dim<8 * length::extent> {};
struct model : dm::dim<96> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<24> {};
struct hidden : dm::dim<256> {};
struct source_vocab : dm::dim<2048> {};
struct vocab : dm::dim<1024> {};
struct expert : dm::dim<> {  // as many as the run says
  using dm::dim<>::dim;
};
struct choice : dm::dim<1> {};
struct slot : dm::dim<> {
  using dm::dim<>::dim;
};

struct form : nn::transformer {
  using batch = ::batch;
  using source = ::source;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  using source_vocab = ::source_vocab;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  static constexpr int layers = 2;
  static constexpr nn::gating gate{.capacity_factor = 1.5, .gates = nn::renormalise::never};
};
using encoder_form = nn::encoder_of<form>;
using decoder_form = nn::decoder_of<form>;
/// That of a mixture whose tokens are the symbols of several sentences.
template <class M, class Symbol> struct in_groups_of : M {
  using batch = group;
  using length = Symbol;
};

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct square : dm::mesh<rows, cols> {};
// Two lines: what each says of `cols` counts where the run asks for more than one column.
using tokens =
    dm::layout<square, dm::split<batch, rows>, dm::split<group, rows>, dm::split<hidden, cols>>;
// Uneven, as there may be fewer of them than ranks; then some have none.
using by_expert = dm::layout<square, dm::split<dm::uneven<expert>, rows>, dm::split<hidden, cols>>;
using source_ids = nn::tokens<tokens, form, source>;
using target_ids = nn::tokens<tokens, form>;

/// A layer with a mixture: block_parameters with one for the feed-forward layer.
template <class L, class M> struct encoder_layer {
  BOOST_HANA_DEFINE_STRUCT(encoder_layer, (nn::norm_parameters<L, M>, norm1),
                           (nn::attention_parameters<L, M>, attention),
                           (nn::norm_parameters<L, M>, norm2),
                           (nn::mixture_parameters<L, M>, feed_forward));
};
template <class L, class M> struct decoder_layer {
  BOOST_HANA_DEFINE_STRUCT(decoder_layer, (nn::norm_parameters<L, M>, norm1),
                           (nn::attention_parameters<L, M>, attention),
                           (nn::norm_parameters<L, M>, cross_norm),
                           (nn::attention_parameters<L, M>, cross),
                           (nn::norm_parameters<L, M>, norm2),
                           (nn::mixture_parameters<L, M>, feed_forward));
};
template <class L> struct network {
  using E = encoder_form;
  using D = decoder_form;
  using source_embedding = nn::weight<L, E, source_vocab, model>;
  using target_embedding = nn::weight<L, D, vocab, model>;
  using source_places = nn::weight<L, E, source, model>;
  using target_places = nn::weight<L, D, length, model>;
  using encoder_dense = nn::block_parameters<L, E>;
  using decoder_dense = nn::block_parameters<L, D>;
  using encoder_mixed = encoder_layer<L, E>;
  using decoder_mixed = decoder_layer<L, D>;
  BOOST_HANA_DEFINE_STRUCT(network, (source_embedding, read), (source_places, read_at),
                           (encoder_dense, encoder1), (encoder_mixed, encoder2),
                           (nn::norm_parameters<L, E>, encoder_last), (target_embedding, write),
                           (target_places, write_at), (decoder_dense, decoder1),
                           (decoder_mixed, decoder2), (nn::norm_parameters<L, D>, decoder_last));
};
using parameters = network<by_expert>;

/// What a half of the model gives: its features, and what its mixture did with symbols, of which
/// `counted` says which there are.
template <class Symbol, class X, class R, class V> struct half {
  using symbol = Symbol;
  X features;
  R mixed;
  V counted;
};

/// x and what attention adds to it, of a layer's parameters q: to its own text, or to the source.
template <class M, class P, class X, class... Y>
auto add_self(const nn::model<tokens, M>& m, const P& q, const X& x, Y&&... y) {
  return nn::residual(m, x, nn::self_attention(m, q.attention, nn::norm(m, q.norm1, x), y...),
                      q.attention.output_bias);
}
template <class M, class P, class X, class... Y>
auto add_cross(const nn::model<tokens, M>& m, const P& q, const X& x, const Y&... y) {
  return nn::residual(m, x, nn::cross_attention(m, q.cross, nn::norm(m, q.cross_norm, x), y...),
                      q.cross.output_bias);
}
template <class M, class P, class X>
auto dense_part(const nn::model<tokens, M>& m, const P& p, const X& x) {
  return nn::residual(m, x, nn::feed_forward(m, p.feed_forward, nn::norm(m, p.norm2, x)),
                      p.feed_forward.down_bias);
}
/// [batch, Place, ..] as [group, Symbol, ..] and back; nothing moves.
template <class Symbol, class Place, class X> auto by_groups(const X& x) {
  return dm::merge<Symbol, member, Place>(dm::cut<batch, group, member>(x));
}
template <class Symbol, class Place, class X> auto by_sentences(const X& x) {
  return dm::merge<batch, group, member>(dm::cut<Symbol, member, Place>(x));
}
template <class Symbol, class M, class P, class N, class X, class V>
auto mixed_part(const nn::model<tokens, M>& m, const P& p, const N& last, const X& x,
                const V& valid) {
  using place = typename M::length;
  const nn::model<tokens, in_groups_of<M, Symbol>> grouped(m.run);
  const auto counted = by_groups<Symbol, place>(valid);
  const auto out = nn::mixture<by_expert>(
      grouped, p.feed_forward, by_groups<Symbol, place>(nn::norm(m, p.norm2, x)), counted);
  const auto y = nn::norm(m, last, x + by_sentences<Symbol, place>(out.y));
  return half<Symbol, std::remove_cv_t<decltype(y)>, std::remove_cv_t<decltype(out)>,
              std::remove_cv_t<decltype(counted)>>{y, out, counted};
}

/// Shapes: ids [batch, source] -> features [batch, source, model].
template <class P, class I> auto encode(const P& p, const I& ids) {
  const nn::model<tokens, encoder_form> m;
  const auto valid = dm::cast<float>(ids != text::filler);
  const auto x = nn::add_positions(m, p.read_at, nn::embed(m, p.read, ids));
  const auto h = dense_part(m, p.encoder1, add_self(m, p.encoder1, x, valid));
  return mixed_part<source_symbol>(m, p.encoder2, p.encoder_last, add_self(m, p.encoder2, h, valid),
                                   valid);
}
/// Shapes: memory [batch, source, model], from [batch, source], ids [batch, length] -> features
/// [batch, length, model].
template <class P, class Y, class S, class I>
auto decode(const P& p, const Y& memory, const S& from, const I& ids) {
  const nn::model<tokens, decoder_form> m;
  const auto valid = dm::cast<float>(from != text::filler);
  auto layer = [&](const auto& q, const auto& x) {
    return add_cross(m, q, add_self(m, q, x), memory, valid);
  };
  const auto x = nn::add_positions(m, p.write_at, nn::embed(m, p.write, ids));
  const auto h = dense_part(m, p.decoder1, layer(p.decoder1, x));
  return mixed_part<english_symbol>(m, p.decoder2, p.decoder_last, layer(p.decoder2, h),
                                    dm::cast<float>(ids != text::filler));
}
/// Shapes: features [.., model] -> [.., vocab].
template <class P, class X> auto logits_of(const P& p, const X& features) {
  return nn::project(nn::model<tokens, decoder_form>{}, features, p.write);
}

/// What the decoder keeps while it writes, symbol by symbol.
using cache = nn::translation_cache<tokens, form>;
using next_ids = nn::tokens<tokens, form, nn::next_tokens>;

template <class P, class Y> cache start_of(const P& p, const Y& memory, const source_ids& from) {
  const nn::model<tokens, decoder_form> m;
  nn::source_cache<tokens, form> kept(from != text::filler);
  kept.layers = {nn::source_rows<form>(m, p.decoder1.cross, memory),
                 nn::source_rows<form>(m, p.decoder2.cross, memory)};
  return {memory.grid(), std::move(kept)};
}
/// What may follow these symbols, after those that were written: decode's logits of the last one,
/// but that no symbol finds its expert full, which each has to itself. Shapes: ids [batch,
/// next_tokens] -> [batch, vocab].
template <class P> auto decode_next(const P& p, const next_ids& ids, cache& kept) {
  const nn::model<tokens, nn::form_of_next<decoder_form>> m;
  const dm::index_t at = kept.filled, n = ids.template extent<nn::next_tokens>();
  const auto layer = [&](const auto& q, std::size_t i, const auto& x) {
    return add_cross(m, q, add_self(m, q, x, kept.layers[i], at), kept.source.layers[i],
                     kept.source.valid);
  };
  const auto x = nn::add_positions(m, p.write_at, nn::embed(m, p.write, ids), at);
  const auto h = dense_part(m, p.decoder1, layer(p.decoder1, 0, x));
  const auto y = layer(p.decoder2, 1, h);
  const auto out =
      nn::mixture<by_expert>(m, p.decoder2.feed_forward, nn::norm(m, p.decoder2.norm2, y),
                             dm::cast<float>(ids != text::filler));
  kept.filled = at + n;
  return logits_of(p, dm::pick<nn::next_tokens>(nn::norm(m, p.decoder_last, y + out.y), n - 1));
}

struct pairs {
  BOOST_HANA_DEFINE_STRUCT(pairs, (source_ids, from), (target_ids, ids), (target_ids, next));
};
using gradient_result = dm::value_and_gradient<dm::tensor<float, dm::layout<square>>, parameters>;

/// The mean loss of the words plus `balance` times the loss that balances experts, and its
/// gradient, both whole: all that a step communicates. Compiled in step.cpp.
struct step_function {
  float balance;
  gradient_result operator()(const parameters& p, const source_ids& from, const target_ids& ids,
                             const target_ids& next) const;
};

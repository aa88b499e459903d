// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a Transformer turn one text into another? An encoder whose positions all see each other
// reads the source; a decoder writes the target, looking at what it has written and at the
// encoder's result (Vaswani et al. 2017).
//
//   struct translation : nn::transformer { using source = ::source; using length = ::length; ... };
//   const nn::encoder_decoder<C, translation> m;
//   m.loss(p, source_ids, target_ids, next_ids)
#pragma once

#include "dimesh/nn/language_model.hpp"

namespace dimesh::nn {

/// The encoder's form: M over its source, every position seen by every other. M may say how many
/// layers that has (encoder_layers) and which vocabulary (source_vocab).
template <class M> struct encoder_of : M {
  using length = typename M::source;
  static constexpr bool causal = false;
  static constexpr bool tied = true;
  static constexpr int layers = [] {
    if constexpr (requires { M::encoder_layers; })
      return M::encoder_layers;
    else
      return M::layers;
  }();
  template <class N> struct vocab_of {
    using type = typename N::vocab;
  };
  template <class N>
    requires requires { typename N::source_vocab; }
  struct vocab_of<N> {
    using type = typename N::source_vocab;
  };
  using vocab = typename vocab_of<M>::type;
};

/// The decoder's form: M, whose layers also look at the encoder's result.
template <class M> struct decoder_of : M {
  static constexpr bool cross = true;
};

template <class L, class Form> struct encoder_decoder_parameters {
  using M = source_form_of<Form>;
  using encoder_type = language_model_parameters<L, encoder_of<M>>;
  using decoder_type = language_model_parameters<L, decoder_of<M>>;
  using described_by = encoder_decoder_parameters<stating<detail::nowhere>, Form>;
  BOOST_HANA_DEFINE_STRUCT(encoder_decoder_parameters, (encoder_type, encoder),
                           (decoder_type, decoder));
};

/// An encoder and a decoder of a form under compute layout C.
template <class C, class Form> struct encoder_decoder : model<C, source_form_of<Form>> {
  using M = source_form_of<Form>;
  using encoder_type = language_model<C, encoder_of<M>>;
  using decoder_type = language_model<C, decoder_of<M>>;
  using parameters = encoder_decoder_parameters<C, Form>;
  using tokens = nn::tokens<C, M>;
  using source_tokens = nn::tokens<C, M, typename M::source>;

  constexpr encoder_decoder(const run_options& r = {}) : model<C, M>(r) {}

  constexpr encoder_type encoder() const { return this->part("encoder").run; }
  constexpr decoder_type decoder() const { return this->part("decoder").run; }

  /// Shapes: ids [batch, source] -> [batch, source, model].
  template <class P, Operand I> constexpr auto encode(const P& p, const I& ids) const {
    if constexpr (!detail::CompletePair<Form>)
      return poison{};
    else
      return encoder().features(p.encoder, ids);
  }
  /// Shapes: memory [batch, source, model], ids [batch, length] -> [batch, length, vocab].
  template <class P, Operand Y, Operand I>
  constexpr auto decode(const P& p, const Y& memory, const I& ids) const {
    if constexpr (!detail::CompletePair<Form>)
      return poison{};
    else
      return decoder().logits(p.decoder, ids, memory);
  }
  /// The mean loss in nats of the tokens of `next`; places where it is -1 do not count. Shapes:
  /// source_ids [batch, source], ids and next [batch, length].
  template <class P, Operand S, Operand I, Operand J>
  constexpr auto loss(const P& p, const S& source_ids, const I& ids, const J& next,
                      const cross_entropy_options& o = {}) const {
    if constexpr (!detail::CompletePair<Form>)
      return poison{};
    else
      return decoder().loss_of(decode(p, encode(p, source_ids), ids), next, o);
  }
};

}  // namespace dimesh::nn

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a Transformer turn one text into another? An encoder whose positions all see each other
// reads the source; a decoder writes the target, looking at what it has written and at the
// encoder's result (Vaswani et al. 2017).
//
//   struct translation : nn::transformer { using source = ::source; using length = ::length; ... };
//   encoder_decoder<C, translation>::loss(p, source_ids, target_ids, next_ids, run)
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

template <class L, class M> struct decoder_parameters {
  using T = typename M::element;
  using embedding_type = tensor<T, L, typename M::vocab, typename M::model>;
  using positions_type = detail::if_there<M::positions == position_kind::learned,
                                          tensor<T, L, typename M::length, typename M::model>>;
  using layers_type =
      std::array<decoder_block_parameters<L, M>, static_cast<std::size_t>(M::layers)>;
  using norm_type = norm_parameters<L, M>;
  using head_type = detail::if_there<!M::tied, tensor<T, L, typename M::model, typename M::vocab>>;
  BOOST_HANA_DEFINE_STRUCT(decoder_parameters, (embedding_type, embedding),
                           (positions_type, positions), (layers_type, layers), (norm_type, last),
                           (head_type, head));
};

template <class L, class M> struct encoder_decoder_parameters {
  using encoder_type = language_model_parameters<L, encoder_of<M>>;
  using decoder_type = decoder_parameters<L, M>;
  BOOST_HANA_DEFINE_STRUCT(encoder_decoder_parameters, (encoder_type, encoder),
                           (decoder_type, decoder));
};

/// An encoder and a decoder of the form M under compute layout C.
template <Layout C, class M> struct encoder_decoder : computable<model_fault<C, M>> {
  using source = typename M::source;
  using vocab = typename M::vocab;

  /// Shapes: ids [batch, source] -> [batch, source, model].
  template <class P, Operand I>
  static constexpr auto encode(const P& p, const I& ids, const run_options& run = {}) {
    return language_model<C, encoder_of<M>>::features(p.encoder, ids, run.part(1));
  }

  /// Shapes: memory [batch, source, model], ids [batch, length] -> [batch, length, vocab].
  template <class P, Operand Y, Operand I>
  static constexpr auto decode(const P& p, const Y& memory, const I& ids,
                               const run_options& run = {}) {
    if constexpr (!encoder_decoder::is_computable)
      return poison{};
    else
      return decoded(p.decoder, memory, ids, run);
  }

  /// The mean loss over all positions of `next` in nats; those that are no token count 0. Shapes:
  /// source_ids [batch, source], ids and next [batch, length].
  template <class P, Operand S, Operand I, Operand J>
  static constexpr auto loss(const P& p, const S& source_ids, const I& ids, const J& next,
                             const run_options& run = {}, const cross_entropy_options& o = {}) {
    const auto scores = decode(p, encode(p, source_ids, run), ids, run);
    return mean(softmax_cross_entropy<vocab>(scores, beside_tensor<C>(scores, next), o));
  }

 private:
  template <class D, class Y, class I>
  static constexpr auto decoded(const D& d, const Y& memory, const I& ids, const run_options& run) {
    const auto x = dropout(run.dropout, run.part(3).key,
                           add_positions<C, M>(d.positions, embed<C, M>(d.embedding, ids)));
    const auto h =
        norm<C, M>(d.last, decoder_stack<C, M, source>(d.layers, x, memory, run.part(2)));
    if constexpr (M::tied)
      return project<C, typename M::element>(h, d.embedding);
    else
      return project<C, typename M::element>(h, d.head);
  }
};

}  // namespace dimesh::nn

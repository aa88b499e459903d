// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a Transformer model text? Each token becomes a vector, a causal stack mixes them, and a
// last product with all vectors of the vocabulary says what comes next. Runs under any compute
// layout C; parameters may be stored under another one (ZeRO) and are brought to C where used.
//
//   language_model<C, M>::logits(p, ids[batch, length])         -> [batch, length, vocab]
//   language_model<C, M>::loss(p, ids, targets, run)            -> a number, partial where split
#pragma once

#include "dimesh/nn/block.hpp"
#include "dimesh/nn/compute_layout.hpp"
#include "dimesh/nn/form.hpp"
#include "dimesh/nn/positions.hpp"
#include "dimesh/op/cross_entropy.hpp"
#include "dimesh/op/take.hpp"

namespace dimesh::nn {

/// embedding [vocab, model], positions [length, model], layers, the last norm, and, unless it is
/// tied to the embedding, head [model, vocab].
template <class L, class Form> struct language_model_parameters {
  using M = form_of<Form>;
  using T = typename M::element;
  using embedding_type = tensor<T, L, typename M::vocab, typename M::model>;
  using positions_type = detail::if_there<M::positions == position_kind::learned,
                                          tensor<T, L, typename M::length, typename M::model>>;
  using layers_type = std::array<block_parameters<L, M>, static_cast<std::size_t>(M::layers)>;
  using norm_type = norm_parameters<L, M>;
  using head_type = detail::if_there<!M::tied, tensor<T, L, typename M::model, typename M::vocab>>;
  BOOST_HANA_DEFINE_STRUCT(language_model_parameters, (embedding_type, embedding),
                           (positions_type, positions), (layers_type, layers), (norm_type, last),
                           (head_type, head));
};

/// Token numbers under compute layout C: whole along the length where that must give way to the
/// vocabulary, so that they need not be moved.
template <Layout C, class M, class Length = typename form_of<M>::length>
using tokens =
    tensor<std::int32_t,
           detail::layout_over<
               C, detail::list<typename form_of<M>::batch, Length, typename form_of<M>::vocab>>,
           typename form_of<M>::batch, Length>;

/// Vectors of tokens: rows of the embedding, under C, as M's activations. Communicates where the
/// vocabulary is split.
template <Layout C, class M, Operand W, Operand I>
constexpr auto embed(const W& embedding, const I& ids) {
  return relayout<C>(cast<activation_element<M>>(
      take<typename M::vocab>(beside_tensor<C>(ids, embedding), beside_tensor<C>(embedding, ids))));
}

/// A language model of a form under compute layout C.
template <Layout C, class Form> struct language_model : computable<model_fault<C, form_of<Form>>> {
  using M = form_of<Form>;
  using vocab = typename M::vocab;

  /// Shapes: ids [batch, length] -> [batch, length, model].
  template <class P, Operand I>
  static constexpr auto features(const P& p, const I& ids, const run_options& run = {}) {
    if constexpr (!language_model::is_computable || !detail::Complete<Form>)
      return poison{};
    else
      return mixed(p, ids, run);
  }
  /// Shapes: ids [batch, length] -> [batch, length, vocab].
  template <class P, Operand I>
  static constexpr auto logits(const P& p, const I& ids, const run_options& run = {}) {
    if constexpr (M::tied)
      return project<C, typename M::element>(features(p, ids, run), p.embedding);
    else
      return project<C, typename M::element>(features(p, ids, run), p.head);
  }

  /// The mean loss of all tokens in nats: a sum yet to be made along axes that split rows or
  /// vocabulary. Shapes: ids, targets [batch, length].
  template <class P, Operand I, Operand J>
  static constexpr auto loss(const P& p, const I& ids, const J& targets,
                             const run_options& run = {}, const cross_entropy_options& o = {}) {
    const auto scores = logits(p, ids, run);
    return mean(softmax_cross_entropy<vocab>(scores, beside_tensor<C>(scores, targets), o));
  }

 private:
  template <class P, class I>
  static constexpr auto mixed(const P& p, const I& ids, const run_options& run) {
    const auto x = dropout(run.dropout, run.key,
                           add_positions<C, M>(p.positions, embed<C, M>(p.embedding, ids)));
    return norm<C, M>(p.last, stack<C, M>(p.layers, x, run));
  }
};

}  // namespace dimesh::nn

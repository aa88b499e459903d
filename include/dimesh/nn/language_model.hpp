// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a Transformer model text? Each token becomes a vector, a causal stack mixes them, and a
// last product with all vectors of the vocabulary says what comes next. Runs under any compute
// layout C; parameters may be stored under another one (ZeRO) and are brought to C where used.
//
//   const nn::language_model<C, gpt> m;         // or m({.dropout = 0.1, .key = key})
//   m.logits(p, ids[batch, length])             -> [batch, length, vocab]
//   m.loss(p, ids, next)                        -> a number, partial where split
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
  using model = typename M::model;
  using vocab = typename M::vocab;
  using positions_type = detail::if_there<M::positions == position_kind::learned,
                                          weight<L, M, typename M::length, model>>;
  using layers_type = std::array<block_parameters<L, M>, static_cast<std::size_t>(M::layers)>;
  using norm_type = norm_parameters<L, M>;
  using head_type = detail::if_there<!M::tied, weight<L, M, model, vocab>>;
  using described_by = language_model_parameters<stating<detail::nowhere>, Form>;
  BOOST_HANA_DEFINE_STRUCT(language_model_parameters, (weight<L, M, vocab, model>, embedding),
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
constexpr auto embed(const model<C, M>& m, const W& embedding, const I& ids) {
  return relayout<C>(cast<activation_element<M>>(
      take<typename M::vocab>(beside_tensor(m, ids, embedding), beside_tensor(m, embedding, ids))));
}

/// A language model of a form under compute layout C; in a decoder (M::cross), `memory` is an
/// encoder's result. Itself a model: what layers take.
template <Layout C, class Form>
struct language_model : model<C, form_of<Form>>, computable<model_fault<C, form_of<Form>>> {
  using M = form_of<Form>;
  using vocab = typename M::vocab;
  using parameters = language_model_parameters<C, Form>;
  using tokens = nn::tokens<C, Form>;

  constexpr language_model(const run_options& r = {}) : model<C, M>(r) {}

  /// Shapes: ids [batch, length] -> [batch, length, model].
  template <class P, Operand I, Operand... Memory>
  constexpr auto features(const P& p, const I& ids, const Memory&... memory) const {
    if constexpr (!language_model::is_computable || !detail::Complete<Form>)
      return poison{};
    else
      return mixed(p, ids, memory...);
  }
  /// Shapes: ids [batch, length] -> [batch, length, vocab].
  template <class P, Operand I, Operand... Memory>
  constexpr auto logits(const P& p, const I& ids, const Memory&... memory) const {
    const auto h = features(p, ids, memory...);
    if constexpr (M::tied)
      return project<typename M::element>(*this, h, p.embedding);
    else
      return project<typename M::element>(*this, h, p.head);
  }
  /// The mean loss of all tokens in nats: a sum yet to be made along axes that split rows or
  /// vocabulary. Shapes: ids, next [batch, length].
  template <class P, Operand I, Operand J>
  constexpr auto loss(const P& p, const I& ids, const J& next,
                      const cross_entropy_options& o = {}) const {
    return loss_of(logits(p, ids), next, o);
  }
  /// The same of the logits. Shapes: scores [batch, length, vocab], next [batch, length].
  template <Operand S, Operand J>
  constexpr auto loss_of(const S& scores, const J& next,
                         const cross_entropy_options& o = {}) const {
    return mean(softmax_cross_entropy<vocab>(scores, beside_tensor(*this, scores, next), o));
  }

 private:
  template <class P, class I, class... Memory>
  constexpr auto mixed(const P& p, const I& ids, const Memory&... memory) const {
    const auto first = this->part("embedding");
    const auto x = dropout(first.run.rate(), first.run.key,
                           add_positions(*this, p.positions, embed(*this, p.embedding, ids)));
    return norm(*this, p.last, stack(*this, p.layers, x, memory...));
  }
};

}  // namespace dimesh::nn

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
#include "dimesh/nn/mean_of_tokens.hpp"
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

namespace detail {
/// The first of D... that a tensor lacks.
template <class X, class... D> struct lacking_dims {
  using type = typename dimesh::detail::first_of<
      std::conditional_t<(dimesh::detail::index_of<D, typename spec_of<X>::dims> >= 0), no_fault,
                         dim_not_in_tensor<D>>...>::type;
};
template <class X, class... D>
using lacking = dimesh::detail::unless_poison<X, lacking_dims<X, D...>>;

/// Something with an embedding (of a form that was refused, too, which has none that is a tensor).
template <class P> concept HasEmbedding = requires(const P& p) { p.embedding; };
template <class P>
using embedding_of = std::remove_cvref_t<decltype(std::declval<const P&>().embedding)>;

/// Parameters, then so many tensors, and options where there may be.
template <std::size_t Least, std::size_t Most, class... A> constexpr bool fits_model() {
  constexpr std::size_t n = sizeof...(A);
  constexpr std::size_t options =
      (std::size_t{std::is_same_v<A, cross_entropy_options>} + ... + std::size_t{0});
  if constexpr (n < Least + 1 || n - options > Most + 1) {
    return false;
  } else {
    std::size_t at = 0;
    return ([&at] {
      const std::size_t i = at++;
      return i > 0 ? Operand<A> == (i < n - options) : HasEmbedding<A>;
    }() && ...);
  }
}

template <class C, class M, class Length> struct tokens_type {
  using type = asserted<assert_compute_layout<C, M>(), poison>;
};
template <Layout C, class M, class Length> struct tokens_type<C, M, Length> {
  using type =
      tensor<std::int32_t, layout_over<C, list<typename M::batch, Length, typename M::vocab>>,
             typename M::batch, Length>;
};
}  // namespace detail

/// Token numbers under compute layout C: whole along the length where that must give way to the
/// vocabulary, so that they need not be moved.
template <class C, class M, class Length = typename form_of<M>::length>
using tokens = typename detail::tokens_type<C, form_of<M>, Length>::type;

/// Vectors of tokens: rows of the embedding, under C, as M's activations. Communicates where the
/// vocabulary is split.
template <Layout C, class M, Operand W, Operand I>
constexpr auto embed(const model<C, M>& m, const W& embedding, const I& ids) {
  return relayout<C>(detail::in_elements<activation_element<M>>(take<typename M::vocab>(
      detail::brought_to(m, ids, embedding), detail::brought_to(m, embedding, ids))));
}

namespace detail {
/// The last product: h [batch, length, model] -> [batch, length, vocab].
template <class C, class M, class P, class H>
constexpr auto scores_of(const model<C, M>& m, const P& p, const H& h) {
  if constexpr (M::tied)
    return project<typename M::element>(m, h, p.embedding);
  else
    return project<typename M::element>(m, h, p.head);
}
}  // namespace detail

/// A language model of a form under compute layout C; in a decoder (M::cross), `memory` is an
/// encoder's result. Itself a model: what layers take.
template <class C, class Form>
struct language_model : model<C, form_of<Form>>, computable<model_fault<C, form_of<Form>>> {
  using M = form_of<Form>;
  using vocab = typename M::vocab;
  using parameters = language_model_parameters<C, Form>;
  using tokens = nn::tokens<C, Form>;

  constexpr language_model(const run_options& r = {}) : model<C, M>(r) {}
  template <Mesh On> explicit constexpr language_model(const grid<On>&) {
    static_assert(ok<wrong_arguments<grid<On>>>,
                  "language_model: it has no tensors, and needs no grid; its parameters do: "
                  "make<language_model_parameters<L, M>>(grid)");
  }

  /// Nothing has been said of C and Form.
  static constexpr bool is_usable = detail::Complete<Form> && ok<model_fault<C, M>>;
  /// Parameters, then so many tensors, and perhaps options.
  template <std::size_t Least, std::size_t Most, class... A>
  static constexpr bool fits = detail::fits_model<Least, Most, A...>();

  /// Shapes: ids [batch, length] -> [batch, length, model].
  template <detail::HasEmbedding P, Operand I, Operand... Memory>
  constexpr auto features(const P& p, const I& ids, const Memory&... memory) const {
    if constexpr (!arguments_fit<P, I>())
      return poison{};
    else
      return mixed(p, ids, memory...);
  }
  /// Shapes: ids [batch, length] -> [batch, length, vocab].
  template <detail::HasEmbedding P, Operand I, Operand... Memory>
  constexpr auto logits(const P& p, const I& ids, const Memory&... memory) const {
    if constexpr (!arguments_fit<P, I>())
      return poison{};
    else
      return detail::scores_of(*this, p, features(p, ids, memory...));
  }
  /// The mean loss in nats of the tokens of `next`; places where it is -1 do not count. A sum yet
  /// to be made along axes that split rows or vocabulary. Shapes: ids, next [batch, length].
  template <detail::HasEmbedding P, Operand I, Operand J>
  constexpr auto loss(const P& p, const I& ids, const J& next,
                      const cross_entropy_options& o = {}) const {
    if constexpr (!arguments_fit<P, I, J>())
      return poison{};
    else
      return loss_of(logits(p, ids), next, o);
  }
  /// Are these parameters of the model's form, and tensors of its batch and length? Asserted where
  /// the call enters the model: inside, the same mistakes are others'.
  template <class P, class... I> static constexpr bool arguments_fit() {
    if constexpr (!is_usable) {
      return false;
    } else if constexpr (!Operand<detail::embedding_of<P>>) {
      return false;  // its form was refused
    } else {
      using own = detail::lacking<detail::embedding_of<P>, vocab, typename M::model>;
      using all = typename dimesh::detail::first_of<
          detail::lacking<I, typename M::batch, typename M::length>...>::type;
      using rest = std::conditional_t<ok<own>, all, no_fault>;
      static_assert(ok<own>,
                    "language_model: the parameters are of a form with other dims; make them of "
                    "the model's own type, typename decltype(m)::parameters");
      static_assert(ok<rest>,
                    "language_model: token numbers have the batch and the length of the model's "
                    "form, ids[batch, length]; rename what stands for them");
      return ok<own> && ok<rest>;
    }
  }
  // What these say to other arguments.
  template <class... A>
    requires(!fits<1, 2, A...>)
  constexpr poison features(const A&...) const {
    static_assert(ok<wrong_arguments<A...>>,
                  "features: the arguments are parameters and token numbers: m.features(p, ids)");
    return {};
  }
  template <class... A>
    requires(!fits<1, 2, A...>)
  constexpr poison logits(const A&...) const {
    static_assert(ok<wrong_arguments<A...>>,
                  "logits: the arguments are parameters and token numbers: m.logits(p, ids)");
    return {};
  }
  template <class... A>
    requires(!fits<2, 2, A...>)
  constexpr poison loss(const A&...) const {
    static_assert(ok<wrong_arguments<A...>>,
                  "loss: the arguments are parameters, token numbers and those that come next: "
                  "m.loss(p, ids, next)");
    return {};
  }
  /// The same of the logits. Shapes: scores [batch, length, vocab], next [batch, length].
  template <Operand S, Operand J>
  constexpr auto loss_of(const S& scores, const J& next,
                         const cross_entropy_options& o = {}) const {
    if constexpr (!is_usable) {
      return poison{};
    } else {
      const auto& to = detail::brought_to(*this, scores, next);
      return mean_of_tokens(softmax_cross_entropy<vocab>(scores, to, o), to);
    }
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The form of a small Transformer, and a language model in plain operations, annotated or not.
//
//   struct form : small_form<batch, length, model, heads, head, hidden, vocab> {};
//   plain_transformer<form, true, rows, cols>{}(p, ids)      -> [batch, length, vocab]
#pragma once

#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/shard.hpp"

namespace test_support {

template <class Batch, class Length, class Model, class Heads, class Head, class Hidden,
          class Vocab>
struct small_form : dimesh::nn::transformer {
  using batch = Batch;
  using length = Length;
  using model = Model;
  using heads = dimesh::shape<Heads>;
  using head = Head;
  using hidden = Hidden;
  using vocab = Vocab;
  static constexpr int layers = 2;
  using heads_dim = Heads;
};

/// An annotation, or nothing.
template <bool Annotated, class... Rule, class X> constexpr auto said(const X& x) {
  if constexpr (Annotated)
    return dimesh::shard<Rule...>(x);
  else
    return x;
}

/// The language model of nn/ in plain operations: no layout, six annotations. Called with its
/// parameters.
template <class Form, bool Annotated, class Rows, class Cols> struct plain_transformer {
  using batch = typename Form::batch;
  using length = typename Form::length;
  using model = typename Form::model;
  using heads = typename Form::heads_dim;
  using head = typename Form::head;
  using hidden = typename Form::hidden;
  using vocab = typename Form::vocab;
  template <class D> using by_row = dimesh::split<D, Rows>;
  template <class D> using by_column = dimesh::split<D, Cols>;

  template <class P, class X> static constexpr auto attend(const P& p, const X& x) {
    using keys = dimesh::nn::keys_of<length>;
    const auto in = dimesh::layer_norm<model>(1e-5, x, p.norm1.gain, p.norm1.bias);
    const auto& a = p.attention;
    const auto q = said<Annotated, by_column<heads>>(  // 4
        dimesh::einsum<batch, length, heads, head>(in, a.query) + a.query_bias);
    const auto k = dimesh::einsum<batch, length, heads, head>(in, a.key) + a.key_bias;
    const auto v = dimesh::einsum<batch, length, heads, head>(in, a.value) + a.value_bias;
    const auto mixed = dimesh::attention<length, keys, head>(
        q, dimesh::rename<length, keys>(k), dimesh::rename<length, keys>(v),
        dimesh::attention_options{.causal = true});
    return x + dimesh::complete(dimesh::einsum<batch, length, model>(mixed, a.output)) +
           a.output_bias;
  }
  template <class P, class X> static constexpr auto feed_forward(const P& p, const X& x) {
    const auto in = dimesh::layer_norm<model>(1e-5, x, p.norm2.gain, p.norm2.bias);
    const auto& f = p.feed_forward;
    const auto h = said<Annotated, by_column<hidden>>(  // 5
        dimesh::gelu(dimesh::einsum<batch, length, hidden>(in, f.up) + f.up_bias));
    return x + dimesh::complete(dimesh::einsum<batch, length, model>(h, f.down)) + f.down_bias;
  }
  template <class P, class I> constexpr auto operator()(const P& p, const I& ids) const {
    const auto table = said<Annotated, by_column<vocab>>(p.embedding);  // 1
    const auto rows_of =
        dimesh::complete(dimesh::take<vocab>(table, said<Annotated, by_row<batch>>(ids)));  // 2
    auto x = placed(rows_of + p.positions);  // 3
    for (const auto& layer : p.layers) x = feed_forward(layer, attend(layer, x));
    const auto y = dimesh::layer_norm<model>(1e-5, x, p.last.gain, p.last.bias);
    return said<Annotated, by_column<vocab>>(  // 6
        dimesh::einsum<batch, length, vocab>(y, table));
  }

 private:
  template <class X> static constexpr auto placed(const X& x) {
    if constexpr (Annotated)
      return dimesh::replicate<length, model>(x);
    else
      return x;
  }
};

}  // namespace test_support

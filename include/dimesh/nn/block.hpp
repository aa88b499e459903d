// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is one layer of a Transformer? Attention and a feed-forward layer, each on a norm of the
// stream and added to it (pre-norm: Xiong et al. 2020); in a decoder (M::cross) also attention to
// an encoder's result. A stack is an array or a vector of one struct of parameters and a loop: four
// layers cost the compiler what one does.
//
//   block(m, p, x[batch, length, model])                        -> like x
//   block(m, p, x, memory[batch, source, model])                -> like x, in a decoder
//   stack(m, layers, x)    stack(m, layers, x, memory)          -> like x
#pragma once

#include "dimesh/grad/recompute.hpp"
#include "dimesh/nn/feed_forward.hpp"
#include "dimesh/nn/multi_head.hpp"

namespace dimesh::nn {

template <class L, class M> struct block_parameters {
  using norm_type = norm_parameters<L, M>;
  using attention_type = attention_parameters<L, M>;
  using cross_norm_type = detail::if_there<M::cross, norm_type>;
  using cross_type = detail::if_there<M::cross, attention_type>;
  using feed_forward_type = feed_forward_parameters<L, M>;
  using described_by = block_parameters<stating<detail::nowhere>, M>;
  BOOST_HANA_DEFINE_STRUCT(block_parameters, (norm_type, norm1), (attention_type, attention),
                           (cross_norm_type, cross_norm), (cross_type, cross), (norm_type, norm2),
                           (feed_forward_type, feed_forward));
};

namespace detail {

/// x + dropout(y + bias), without bias where M has none.
template <class C, class M, class X, class Y, class B>
constexpr auto add_to_stream(const model<C, M>& m, const X& x, const Y& y, const B& bias) {
  if constexpr (M::biases)
    return residual(m, x, y, bias);
  else
    return residual(m, x, y);
}

/// Attention, to itself or to an encoder's result, as a function that `recompute` can run twice.
template <class Model> struct attention_function {
  Model m;
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return self_attention(m, p, x);
  }
  template <class P, class X, class Y>
  constexpr auto operator()(const P& p, const X& x, const Y& memory) const {
    return cross_attention(m, p, x, memory);
  }
};
/// f(x...), its inside computed anew in the backward pass where M says so of attention.
template <class M, class F, class... X> constexpr auto attention_by(const F& f, const X&... x) {
  if constexpr (recomputes<M> == recomputing::attention)
    return recompute(f)(x...);
  else
    return f(x...);
}
template <class C, class M, class P, class X>
constexpr auto add_attention(const model<C, M>& m, const P& p, const X& x) {
  const attention_function<model<C, M>> f{m};
  return add_to_stream(m.part("residual"), x, attention_by<M>(f, p.attention, norm(m, p.norm1, x)),
                       p.attention.output_bias);
}
template <class C, class M, class P, class X>
constexpr auto add_cross(const model<C, M>&, const P&, const X& x) {
  return x;
}
template <class C, class M, class P, class X, class Y>
constexpr auto add_cross(const model<C, M>& m, const P& p, const X& x, const Y& memory) {
  const attention_function<model<C, M>> f{m};
  return add_to_stream(m.part("residual"), x,
                       attention_by<M>(f, p.cross, norm(m, p.cross_norm, x), memory),
                       p.cross.output_bias);
}
template <class C, class M, class P, class X>
constexpr auto add_feed_forward(const model<C, M>& m, const P& p, const X& x) {
  return add_to_stream(m.part("residual"), x, feed_forward(m, p.feed_forward, norm(m, p.norm2, x)),
                       p.feed_forward.down_bias);
}

}  // namespace detail

/// One layer; of a decoder, which attends to what came before and to an encoder's result, with
/// `memory` [.., source, model]. Shapes: as x. Communicates as its parts do. Out of line: a loop
/// over layers would be unrolled otherwise, one copy a layer.
template <Layout C, class M, class P, Operand X, Operand... Memory>
[[gnu::noinline]] constexpr auto block(const model<C, M>& m, const P& p, const X& x,
                                       const Memory&... memory) {
  constexpr bool is_given = sizeof...(Memory) == (M::cross ? 1 : 0);
  static_assert(is_given,
                "block: a layer that looks at an encoder's result (M::cross) is given it, another "
                "one is not");
  if constexpr (is_given) {
    const auto h = detail::add_attention(m.part("attention"), p, x);
    return detail::add_feed_forward(m.part("feed_forward"), p,
                                    detail::add_cross(m.part("cross"), p, h, memory...));
  } else {
    return poison{};
  }
}

/// What it says to other arguments, or to the same in another order.
template <class... Named, class... A>
  requires(!detail::fits_layer(3, 4, 1, {detail::is_model<A>...}, {Operand<A>...}))
constexpr poison block(const A&...) {
  static_assert(
      ok<wrong_arguments<A...>>,
      "block: the arguments are a model, the parameters of a layer and a tensor: block(m, "
      "p.layers[0], x)");
  return {};
}

namespace detail {
template <class Y> Y no_layers() {
  (dimesh::detail::words() << "stack: there are no layers, and the input is not recorded; give one "
                              "layer at least")
      .raise();
}
/// A layer as a function of parameters and inputs, which `recompute` can run twice.
template <class Model> struct block_function {
  Model m;
  template <class P, class X, class... Memory>
  constexpr auto operator()(const P& p, const X& x, const Memory&... memory) const {
    return block(m, p, x, memory...);
  }
};
}  // namespace detail

/// All layers of an array or vector in turn, each computed anew in the backward pass where
/// M::recompute says so (where it says attention, `block` does it). Shapes: as x. Of a vector
/// without layers nothing recorded can come where x is not: throws dimesh::error.
template <Layout C, class M, class Layers, Operand X, Operand... Memory>
constexpr auto stack(const model<C, M>& m, const Layers& layers, const X& x,
                     const Memory&... memory) {
  using layer = detail::block_function<model<C, M>>;
  using Y = decltype(layer{m}(layers[0], x, memory...));
  if constexpr (is_poison<Y>) {
    return poison{};
  } else {
    const auto at = [&](std::size_t i, const auto& in) {
      const layer f{m.part("layers", i)};
      if constexpr (detail::recomputes<M> == recomputing::layers)
        return recompute(f)(layers[i], in, memory...);
      else
        return f(layers[i], in, memory...);
    };
    constexpr bool as_given = std::is_same_v<Y, X>;
    Y y = [&] {
      if constexpr (as_given)
        return x;
      else
        return layers.size() > 0 ? at(0, x) : detail::no_layers<Y>();
    }();
    for (std::size_t i = as_given ? 0 : 1; i < layers.size(); ++i) y = at(i, y);
    return y;
  }
}

}  // namespace dimesh::nn

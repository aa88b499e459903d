// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is one layer of a Transformer? Attention and a feed-forward layer, each on a norm of the
// stream and added to it (pre-norm: Xiong et al. 2020). A stack is an array of one struct of
// parameters and a loop: four layers cost the compiler what one does.
//
//   block<C, M>(p, x[batch, length, model], run)             -> like x
//   stack<C, M>(layers, x, run)                              -> like x
//   decoder_block<C, M, source>(p, x, memory[batch, source, model], run)
#pragma once

#include "dimesh/grad/recompute.hpp"
#include "dimesh/nn/feed_forward.hpp"
#include "dimesh/nn/multi_head.hpp"

namespace dimesh::nn {

template <class L, class M> struct block_parameters {
  using norm_type = norm_parameters<L, M>;
  using attention_type = attention_parameters<L, M>;
  using feed_forward_type = feed_forward_parameters<L, M>;
  BOOST_HANA_DEFINE_STRUCT(block_parameters, (norm_type, norm1), (attention_type, attention),
                           (norm_type, norm2), (feed_forward_type, feed_forward));
};

/// A layer that also looks at an encoder's result.
template <class L, class M> struct decoder_block_parameters {
  using norm_type = norm_parameters<L, M>;
  using attention_type = attention_parameters<L, M>;
  using feed_forward_type = feed_forward_parameters<L, M>;
  BOOST_HANA_DEFINE_STRUCT(decoder_block_parameters, (norm_type, norm1),
                           (attention_type, attention), (norm_type, norm2), (attention_type, cross),
                           (norm_type, norm3), (feed_forward_type, feed_forward));
};

namespace detail {

/// x + dropout(y + bias), without bias where M has none.
template <class C, class M, class X, class Y, class B>
constexpr auto add_to_stream(const X& x, const Y& y, const B& bias, const run_options& run) {
  if constexpr (M::biases)
    return residual<C>(run, x, y, bias);
  else
    return residual(run, x, y);
}

template <class C, class M> struct attention_part {
  run_options run;
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return add_to_stream<C, M>(
        x, self_attention<C, M>(p.attention, norm<C, M>(p.norm1, x), run.part(0)),
        p.attention.output_bias, run.part(1));
  }
};

template <class C, class M, class P, class N, class X>
constexpr auto feed_forward_part(const P& p, const N& n, const X& x, const run_options& run) {
  return add_to_stream<C, M>(x, feed_forward<C, M>(p, norm<C, M>(n, x)), p.down_bias, run);
}

}  // namespace detail

/// One layer. Shapes: as x. Communicates as its parts do.
template <Layout C, class M, class P, Operand X>
constexpr auto block(const P& p, const X& x, const run_options& run = {}) {
  const auto h = detail::attention_part<C, M>{run}(p, x);
  return detail::feed_forward_part<C, M>(p.feed_forward, p.norm2, h, run.part(2));
}

/// One layer of a decoder: attention to what came before, to the encoder's result, feed-forward.
template <Layout C, class M, Dim Source, class P, Operand X, Operand Y>
constexpr auto decoder_block(const P& p, const X& x, const Y& memory, const run_options& run = {}) {
  const auto h = detail::attention_part<C, M>{run}(p, x);
  const auto g = detail::add_to_stream<C, M>(
      h, cross_attention<C, M, Source>(p.cross, norm<C, M>(p.norm2, h), memory, run.part(3)),
      p.cross.output_bias, run.part(4));
  return detail::feed_forward_part<C, M>(p.feed_forward, p.norm3, g, run.part(2));
}

namespace detail {
/// A layer as a function of parameters and inputs, which `recompute` can run twice.
template <class C, class M> struct block_function {
  run_options run;
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return block<C, M>(p, x, run);
  }
};
template <class C, class M, class Source> struct decoder_block_function {
  run_options run;
  template <class P, class X, class Y>
  constexpr auto operator()(const P& p, const X& x, const Y& memory) const {
    return decoder_block<C, M, Source>(p, x, memory, run);
  }
};

/// f(layers[i], x, more...) for each layer in turn.
template <class M, class F, class Layers, class X, class... More>
constexpr auto through_layers(const F& make, const Layers& layers, X x, const More&... more) {
  if constexpr (is_poison<decltype(make(0)(layers[0], x, more...))>) {
    return poison{};
  } else {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto f = make(i);
      if constexpr (M::recompute)
        x = recompute(f)(layers[i], x, more...);
      else
        x = f(layers[i], x, more...);
    }
    return x;
  }
}
}  // namespace detail

/// All layers of an array in turn, each computed anew in the backward pass where M::recompute says
/// so. Shapes: as x.
template <Layout C, class M, class Layers, Operand X>
constexpr auto stack(const Layers& layers, const X& x, const run_options& run = {}) {
  return detail::through_layers<M>(
      [&run](std::size_t i) { return detail::block_function<C, M>{run.part(16 + i)}; }, layers, x);
}

/// The same of a decoder's layers.
template <Layout C, class M, Dim Source, class Layers, Operand X, Operand Y>
constexpr auto decoder_stack(const Layers& layers, const X& x, const Y& memory,
                             const run_options& run = {}) {
  return detail::through_layers<M>(
      [&run](std::size_t i) {
        return detail::decoder_block_function<C, M, Source>{run.part(16 + i)};
      },
      layers, x, memory);
}

}  // namespace dimesh::nn

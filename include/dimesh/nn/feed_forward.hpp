// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a Transformer do to each position by itself? Two products with an activation between
// them. Under a layout that splits the hidden dim the first is column-parallel, the second
// row-parallel: forward one all-reduce of the stream, backward one.
//
//   feed_forward<C, M>(p, x[batch, length, model])  -> like x, without the last bias
#pragma once

#include "dimesh/nn/dense.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::nn {

/// up and gate [model, hidden], up_bias [hidden], down [hidden, model], down_bias [model].
template <class L, class M> struct feed_forward_parameters {
  using T = typename M::element;
  using up_type = tensor<T, L, typename M::model, typename M::hidden>;
  using gate_type = detail::if_there<is_gated(M::act), up_type>;
  using up_bias_type =
      detail::if_there<M::biases && !is_gated(M::act), tensor<T, L, typename M::hidden>>;
  using down_type = tensor<T, L, typename M::hidden, typename M::model>;
  using down_bias_type = detail::if_there<M::biases, tensor<T, L, typename M::model>>;
  BOOST_HANA_DEFINE_STRUCT(feed_forward_parameters, (up_type, up), (gate_type, gate),
                           (up_bias_type, up_bias), (down_type, down), (down_bias_type, down_bias));
};

namespace detail {
template <activation A> constexpr auto activation_function() {
  if constexpr (A == activation::relu)
    return relu_activation{};
  else if constexpr (A == activation::gelu || A == activation::geglu)
    return gelu_activation{};
  else
    return silu_activation{};
}
}  // namespace detail

/// down(act(up(x))); the bias of `down` is left to the residual sum. Shapes: as x. Communicates as
/// project does.
template <Layout C, class M, class P, Operand X>
constexpr auto feed_forward(const P& p, const X& x) {
  constexpr auto f = detail::activation_function<M::act>();
  const auto in = beside<C, typename M::hidden>(x);
  if constexpr (is_gated(M::act))
    return project<C>(gated<C>(f, in, p.up, p.gate), p.down);
  else if constexpr (M::biases)
    return project<C>(dense<C>(f, in, p.up, p.up_bias), p.down);
  else
    return project<C>(dense<C>(f, in, p.up), p.down);
}

}  // namespace dimesh::nn

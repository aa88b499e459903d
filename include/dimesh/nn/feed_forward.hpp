// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a Transformer do to each position by itself? Two products with an activation between
// them. Under a layout that splits the hidden dim the first is column-parallel, the second
// row-parallel: forward one all-reduce of the stream, backward one.
//
//   feed_forward(m, p, x[batch, length, model])  -> like x, without the last bias
#pragma once

#include "dimesh/nn/dense.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::nn {

/// up and gate [model, hidden], up_bias [hidden], down [hidden, model], down_bias [model].
template <class L, class M> struct feed_forward_parameters {
  using model = typename M::model;
  using hidden = typename M::hidden;
  static constexpr bool is_gated = nn::is_gated(M::act);
  using up_type = weight<L, M, model, hidden>;
  using gate_type = detail::if_there<is_gated, up_type>;
  using up_bias_type = bias<L, M, M::biases && !is_gated, hidden>;
  using down_bias_type = bias<L, M, M::biases, model>;
  using described_by = feed_forward_parameters<stating<detail::nowhere>, M>;
  BOOST_HANA_DEFINE_STRUCT(feed_forward_parameters, (up_type, up), (gate_type, gate),
                           (up_bias_type, up_bias), (output_weight<L, M, hidden, model>, down),
                           (down_bias_type, down_bias));
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
constexpr auto feed_forward(const model<C, M>& m, const P& p, const X& x) {
  constexpr auto f = detail::activation_function<M::act>();
  const auto& in = detail::brought_beside<typename M::hidden>(m, x);
  if constexpr (is_gated(M::act))
    return project(m, gated(m, f, in, p.up, p.gate), p.down);
  else if constexpr (M::biases)
    return project(m, dense(m, f, in, p.up, p.up_bias), p.down);
  else
    return project(m, dense(m, f, in, p.up), p.down);
}

}  // namespace dimesh::nn

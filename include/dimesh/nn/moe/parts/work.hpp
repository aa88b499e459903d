// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do experts do with what is in their slots? Each its own feed-forward network, all of them in
// one product with a dim that is not summed.
//
//   expert_feed_forward<expert>(model<E, M>{}, p, x[expert/rows, batch, slot, model])  -> like x
#pragma once

#include "dimesh/nn/feed_forward.hpp"
#include "dimesh/op/relayout_across.hpp"

namespace dimesh::nn::detail {

template <class X> using layout_of_x = typename spec_of<X>::layout;

/// x under layout L, on the mesh of L, where y lives if that is another one.
template <class L, class X, class Y> constexpr auto beside_on_mesh(const X& x, const Y& y) {
  if constexpr (std::is_same_v<typename spec_of<X>::mesh, typename L::mesh>)
    return relayout<L>(x);
  else
    return relayout<layout_over<L, typename spec_of<X>::dims>>(x, y);
}

/// x.w for each expert: [Expert, .., K] and [Expert, K, N] -> [Expert, .., N], under C. Not
/// `project`, which would add up experts.
template <class Expert, Layout C, class M, class X, class W>
constexpr auto project_each(const model<C, M>& m, const X& x, const W& w) {
  using shared = typename remaining<typename spec_of<W>::dims, list<Expert>>::type;
  using summed =
      typename remaining<shared, typename remaining<shared, typename spec_of<X>::dims>::type>::type;
  using out = typename concat_impl<typename remaining<typename spec_of<X>::dims, summed>::type,
                                   typename remaining<shared, summed>::type>::type;
  return product<void>(out{}, relayout<product_layout<C, X, W>>(x), beside_tensor(m, x, w));
}

/// The feed-forward networks of all experts, on x[Expert, .., model]. Under C, as relayout does.
template <class Expert, Layout C, class M, class P, class X>
constexpr auto expert_feed_forward(const model<C, M>& m, const P& p, const X& x) {
  constexpr auto f = activation_function<M::act>();
  const auto up = relayout<C>(project_each<Expert>(m, x, p.up));
  const auto inside = [&] {
    if constexpr (is_gated(M::act))
      return map_with(gated_function<std::remove_cvref_t<decltype(f)>>{f}, up,
                      relayout<C>(project_each<Expert>(m, x, p.gate)));
    else if constexpr (M::biases)
      return map_with(biased_function<std::remove_cvref_t<decltype(f)>>{f}, up,
                      beside_tensor(m, up, p.up_bias));
    else
      return map_with(f, up);
  }();
  const auto down = relayout<C>(project_each<Expert>(m, inside, p.down));
  if constexpr (M::biases)
    return add_bias(m, down, p.down_bias);
  else
    return down;
}

}  // namespace dimesh::nn::detail

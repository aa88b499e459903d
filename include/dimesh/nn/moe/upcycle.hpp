// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a trained model without experts become one with them? Every expert begins as a copy of
// its feed-forward layer, and the router from its own distribution (Komatsuzaki et al. 2023). Where
// weights of a token add up to 1 and all choices find slots, the new layer says what the old one
// did.
//
//   auto w = make<mixture_parameters<L, form>>(g);
//   nn::initialize(w, key);                            // the router
//   nn::upcycle(old[feed_forward_parameters], w)       // all else
#pragma once

#include "dimesh/nn/moe/experts.hpp"
#include "dimesh/op/expand.hpp"

namespace dimesh::nn {

namespace detail {
template <class Expert, class Old, class New> void copy_to_experts(const Old& from, New& to) {
  to = beside_on_mesh<layout_of_x<New>>(
      cast<value_of<New>>(expand<Expert>(from, Expert{to.template extent<Expert>()})), to);
}
}  // namespace detail

/// Fills the experts of `to` with copies of a dense layer of the same form, under any two layouts,
/// of one mesh or of two over the same ranks; the router stays as it is. Communicates as relayout
/// does.
template <class L, class M, class K>
void upcycle(const feed_forward_parameters<L, M>& from, mixture_parameters<K, M>& to) {
  using expert = typename M::expert;
  detail::copy_to_experts<expert>(from.up, to.up);
  detail::copy_to_experts<expert>(from.down, to.down);
  if constexpr (is_gated(M::act)) detail::copy_to_experts<expert>(from.gate, to.gate);
  if constexpr (M::biases && !is_gated(M::act))
    detail::copy_to_experts<expert>(from.up_bias, to.up_bias);
  if constexpr (M::biases) detail::copy_to_experts<expert>(from.down_bias, to.down_bias);
}

}  // namespace dimesh::nn

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do experts do with what is in their slots? Each its own feed-forward network, all of them in
// one product with a dim that is not summed, or, where it is said how many slots are filled, each
// on the rows that are, which stand together for as long.
//
//   expert_feed_forward<expert>(model<E, M>{}, p, x[expert/rows, batch, slot, model])  -> like x
//   expert_feed_forward<expert>(m, p, x, filled[expert/rows, batch])     the same in filled slots
#pragma once

#include "dimesh/nn/feed_forward.hpp"
#include "dimesh/nn/moe/parts/filled_op.hpp"
#include "dimesh/nn/moe/slots.hpp"
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

/// In the place of numbers of filled slots: every slot is computed.
struct all_slots {};

template <class C, class Dims>
inline constexpr dimesh::detail::table table_under =
    dimesh::detail::spec_of_list<float, Dims, layout_over<C, Dims>>::type::table;

/// Does a rank keep the rows of its experts from slots to slots under C: of x[Expert, G.., slot,
/// ..], of their products with w[Expert, ..], and of what is inside? Then those that are filled may
/// stand together. Layouts that the run says, elements without products, and devices, whose rows
/// would move by way of the host, take all slots.
template <class C, class X, class W> constexpr bool keeps_rows() {
  if constexpr (is_poison<X> || is_poison<W> || !dimesh::detail::hosts_only) {
    return false;
  } else if constexpr (dimesh::detail::is_at_run_time<C> ||
                       !element_traits<value_of<X>>::has_products) {
    return false;
  } else {
    using held = typename spec_of<X>::dims;
    using weights = typename spec_of<W>::dims;
    using expert = list<dimesh::detail::type_at<0, weights>>;
    using rows = typename concat_impl<expert, typename remaining<held, weights>::type>::type;
    using inside = typename concat_impl<rows, typename remaining<weights, held>::type>::type;
    constexpr int slot = dimesh::detail::dims_in<rows>.size - 1;
    constexpr auto& there = table_under<C, held>;
    for (int d = 0; d <= slot; ++d)
      if (!there.splits_alike(d, table_under<C, united<held, weights>>) ||
          !there.splits_alike(d, table_under<C, inside>) ||
          !there.splits_alike(d, table_under<C, rows>))
        return false;
    return there.split_count(slot) == 0;
  }
}

/// What experts under C are told of numbers of filled slots: these, or that all are computed. They
/// travel in any case, so that what is sent depends on nothing that a layout as a value cannot say.
template <class C, class X, class W, class F>
constexpr auto told_of(const F& filled, const X&, const W&) {
  if constexpr (keeps_rows<C, X, W>())
    return filled;
  else
    return all_slots{};
}

/// How many slots of each group and expert slots[G.., Token, Choice] takes, the last one and those
/// before: [Expert, G..].
template <class Token, class Choice, class Expert, class S>
constexpr auto count_filled(const S& slots, index_t experts, index_t capacity) {
  using groups = group_dims<Token, Choice, S>;
  using out = typename concat_impl<list<Expert>, groups>::type;
  return apply_rule<route_rule<out, Token, Choice, Expert>, std::int32_t>(
      count_filled_op({&facts_of_dim<Expert>, experts}, capacity),
      permuted<with_dims<groups, Token, Choice>>(slots));
}

/// Rows of x[Expert, G.., Slot, ..] to the front of their experts, or (Back) from there.
template <class Slot, bool Back, class X, class F>
constexpr auto moved_filled(const X& x, const F& filled) {
  return apply_rule<filled_rule<Slot, typename spec_of<X>::dims>, value_of<X>>(
      move_filled_op<value_of<X>, Back>{&facts_of_dim<Slot>}, x, filled);
}

/// x[Expert, G.., Slot, ..].w[Expert, ..] -> [Out..] of the rows in front of each expert; zeros in
/// those behind.
template <class Slot, class Out, class X, class W, class F>
constexpr auto filled_einsum(const X& x, const W& w, const F& filled) {
  return apply_rule<filled_rule<Slot, Out>, value_of<X>>(
      filled_einsum_op<value_of<X>>{&facts_of_dim<Slot>}, x, w, filled);
}

/// x.w for each expert: [Expert, .., K] and [Expert, K, N] -> [Expert, .., N], under C. Not
/// `project`, which would add up experts. Filled: rows stand in front of each expert.
template <class Expert, Layout C, class M, class X, class W, class F>
constexpr auto project_each(const model<C, M>& m, const X& x, const W& w, const F& filled) {
  using shared = typename remaining<typename spec_of<W>::dims, list<Expert>>::type;
  using summed =
      typename remaining<shared, typename remaining<shared, typename spec_of<X>::dims>::type>::type;
  using out = typename concat_impl<typename remaining<typename spec_of<X>::dims, summed>::type,
                                   typename remaining<shared, summed>::type>::type;
  const auto in = relayout<product_layout<C, X, W>>(x);
  const auto weights = beside_tensor(m, x, w);
  if constexpr (std::is_same_v<F, all_slots>)
    return product<void>(out{}, in, weights);
  else
    return filled_einsum<typename M::slot, out>(in, weights, filled);
}

/// The feed-forward networks of all experts, on x[Expert, .., model]: of each its rows in front, as
/// many as are filled. Under C, as relayout does.
template <class Expert, Layout C, class M, class P, class X, class F>
constexpr auto work_in_front(const model<C, M>& m, const P& p, const X& x, const F& filled) {
  constexpr auto f = activation_function<M::act>();
  const auto up = relayout<C>(project_each<Expert>(m, x, p.up, filled));
  const auto inside = [&] {
    if constexpr (is_gated(M::act))
      return map_with(gated_function<std::remove_cvref_t<decltype(f)>>{f}, up,
                      relayout<C>(project_each<Expert>(m, x, p.gate, filled)));
    else if constexpr (M::biases)
      return map_with(biased_function<std::remove_cvref_t<decltype(f)>>{f}, up,
                      beside_tensor(m, up, p.up_bias));
    else
      return map_with(f, up);
  }();
  const auto down = relayout<C>(project_each<Expert>(m, inside, p.down, filled));
  if constexpr (M::biases)
    return add_bias(m, down, p.down_bias);
  else
    return down;
}

/// The feed-forward networks of all experts, on x[Expert, .., slot, model]; zeros in slots that
/// `filled` leaves out, whatever they held. Under C, as relayout does.
template <class Expert, Layout C, class M, class P, class X, class F = all_slots>
constexpr auto expert_feed_forward(const model<C, M>& m, const P& p, const X& x,
                                   const F& filled = {}) {
  if constexpr (std::is_same_v<F, all_slots>)
    return work_in_front<Expert>(m, p, x, filled);
  else
    return moved_filled<typename M::slot, true>(
        work_in_front<Expert>(m, p, moved_filled<typename M::slot, false>(x, filled), filled),
        filled);
}

}  // namespace dimesh::nn::detail

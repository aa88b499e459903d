// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which experts does a token go to, with which weights, and who finds them full? GShard's
// Algorithm 1 (Lepikhin et al. 2020), and what came after it. Probabilities in, indices and weights
// out; gradients flow through the weights.
//
//   const auto p = softmax<expert>(logits[batch/rows, token, expert])
//   const auto r = route<token, expert, choice>({}, p)        choice : dim<2>: two experts
//   r.slots     [batch/rows, token, choice]   expert * r.capacity + place, or -1: to_slots
//   r.gates     [batch/rows, token, choice]   the weights: from_slots
//   r.chosen    [batch/rows, token, choice]   the experts, full ones included
//
//   route<token, expert, choice>(g, p, valid)   padding, where valid[batch/rows, token] is 0, goes
//                                               nowhere and takes no slot
//   route_by<...>(g, p, p + bias, valid)        chosen by other scores than the weights
//   expert_choice<token, expert, choice>(g, p)  experts choose tokens (Zhou et al. 2022)
//
// A group is all tokens along one dim, `token`; other dims number groups, and may be split.
#pragma once

#include "dimesh/nn/moe/parts/route_op.hpp"
#include "dimesh/nn/moe/slots.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/compare.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/map.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/rename.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh::nn {

/// Where tokens go: whole numbers chosen and slots, and weights.
template <class Chosen, class Slots, class Gates> struct routing {
  Chosen chosen;  ///< the experts of each token, best first; -1 for padding
  Slots slots;  ///< expert * capacity + place, -1 where a choice has no slot
  Gates gates;  ///< weights of the choices
  index_t capacity;  ///< slots of an expert for each group
};

/// Every token counts.
struct all_tokens {};

namespace detail {

/// Which expert a slot belongs to; -1 where there is none.
struct expert_of_slot {
  index_t capacity;
  KOKKOS_INLINE_FUNCTION std::int32_t operator()(std::int32_t slot) const {
    return slot < 0 ? -1 : static_cast<std::int32_t>(slot / capacity);
  }
};

/// One line where an assertion prints it.
template <class Fault>
using scores_lie_apart = only<Fault, partial_operand, meshes_differ, dims_share_mesh_axis,
                              dim_split_in_one_operand_only, dim_split_differently>;
template <class Fault> constexpr void assert_routes() {
  static_assert(ok<only<Fault, dim_not_in_tensor, dim_already_in_tensor>>,
                "route, expert_choice: scores have the dims of groups, tokens and experts, and not "
                "that of choices: route<token, expert, choice>(gating, scores)");
  static_assert(ok<only<Fault, dim_is_split, dim_has_halo>>,
                "route, expert_choice: tokens of a group and experts are whole on a rank; split "
                "the groups, and take whole<dim> of these");
  static_assert(
      ok<scores_lie_apart<Fault>>,
      "route, expert_choice: scores are yet to be summed, or what says which tokens count lies "
      "otherwise; complete or relayout it");
}

template <class X, class Token, class Expert> struct scores_dims {
  using groups = dims_without<dims_without<typename spec_of<X>::dims, Expert>, Token>;
  using by_expert = with_dims<groups, Token, Expert>;
  using tokens = with_dims<groups, Token>;
};

/// Dims that scores lack or have too many, before any is put in order.
template <class Token, class Expert, class Choice> struct scores_rule {
  using named = list<Token, Expert, Choice>;
  template <class First, class...> struct dims {
    using type = First;
  };
  static constexpr outcome of(rule_operands x, dim_list out) {
    using dimesh::detail::facts_of_dim;
    if (const int k = foreign_operand(x); k >= 0)
      return dimesh::detail::blamed_place(fault_code::meshes_differ, k);
    for (const dim_facts* d : {&facts_of_dim<Token>, &facts_of_dim<Expert>})
      if (x[0].place_of(d) < 0) return blamed(fault_code::dim_not_in_tensor, d);
    if (x[0].place_of(&facts_of_dim<Choice>) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &facts_of_dim<Choice>);
    if (const int a = x[0].layout.first_partial(); a >= 0)
      return dimesh::detail::blamed_axis(fault_code::partial_operand, a);
    const outcome o = whole_dims(x[0], {&facts_of_dim<Token>, &facts_of_dim<Expert>});
    return !o.ok() || x.count == 1 ? o : valid_rule(x, out);
  }

 private:
  /// x[1] has the dims of x[0] but for Expert.
  static constexpr outcome valid_rule(rule_operands x, dim_list out) {
    constexpr const dim_facts* expert = &dimesh::detail::facts_of_dim<Expert>;
    for (int d = 0; d < x[0].rank; ++d)
      if (!same_dim(x[0].dim[d], expert) && x[1].place_of(x[0].dim[d]) < 0)
        return blamed(fault_code::dim_not_in_tensor, x[0].dim[d]);
    for (int d = 0; d < x[1].rank; ++d)
      if (same_dim(x[1].dim[d], expert) || x[0].place_of(x[1].dim[d]) < 0)
        return blamed(fault_code::dim_already_in_tensor, x[1].dim[d]);
    if (const int a = x[1].layout.first_partial(); a >= 0)
      return dimesh::detail::blamed_axis(fault_code::partial_operand, a);
    if (const dim_facts* h = haloed_dim(x[1]); h != nullptr)
      return blamed(fault_code::dim_has_halo, h);
    return join_operands(dimesh::detail::join_kind::product, x, out);
  }
};
/// What is wrong with scores and what says which tokens count.
template <class Rule, class P, class V> struct scores_fault {
  using type = fault_of<Rule, P>;
};
template <class Rule, class P, Operand V> struct scores_fault<Rule, P, V> {
  using type = fault_of<Rule, P, V>;
};

template <class Rule, class T, class Dims, class Op, class X>
constexpr auto valid_only(const Op& op, const X& x, const all_tokens&) {
  return apply_rule<Rule, T>(op, x);
}
template <class Rule, class T, class Dims, class Op, class X, Operand V>
constexpr auto valid_only(const Op& op, const X& x, const V& valid) {
  return apply_rule<Rule, T>(op, x, permuted<Dims>(cast<value_of<X>>(stop_gradient(valid))));
}

/// Divided by the sum over choices, which is not 0.
template <class Choice, class G> constexpr auto shares(const G& gates) {
  const auto all = sum<Choice>(gates);
  return gates / (all + cast<value_of<G>>(stop_gradient(all) == computed<value_of<G>>(0)));
}

/// 1 where a choice has a slot.
template <class T, class S> constexpr auto kept(const S& slots) { return cast<T>(slots >= 0); }

template <class Choice, class S, class G>
constexpr auto weights_of(const gating& g, const S& slots, const G& raw) {
  if (g.gates == renormalise::before_capacity) return shares<Choice>(raw);
  if (g.gates == renormalise::after_drops) return shares<Choice>(raw * kept<value_of<G>>(slots));
  return raw * computed<value_of<G>>(1);
}

/// Experts chosen by `by`, weights from p; both stored as [groups, token, expert].
template <class Token, class Expert, class Choice, class P, class S, class V>
constexpr auto routed(const gating& g, const P& p, const S& by, const V& valid, index_t choices) {
  using dims = scores_dims<P, Token, Expert>;
  using chosen_dims = with_dims<typename dims::groups, Token, Choice>;
  using T = value_of<P>;
  const index_t experts = p.template extent<Expert>();
  if (choices > experts)
    (dimesh::detail::words() << "route: " << choices << " experts for each token, and dim '"
                             << dimesh::detail::name_of<Expert>() << "' has " << experts)
        .raise();
  const index_t capacity = capacity_of(g, choices, p.template extent<Token>(), experts);
  const choose_op<value_of<S>> choose{{&facts_of_dim<Choice>, choices}};
  const auto chosen = valid_only<route_rule<chosen_dims, Token, Expert, Choice>, std::int32_t,
                                 typename dims::tokens>(choose, by, valid);
  const auto raw = dimesh::gather<Expert, Choice>(p, chosen);
  const auto slots = apply_rule<route_rule<chosen_dims, Token, Choice>, std::int32_t>(
      assign_op<T>{experts, capacity, g}, chosen, shares<Choice>(stop_gradient(raw)));
  auto gates = weights_of<Choice>(g, slots, raw);
  return routing<std::remove_cvref_t<decltype(chosen)>, std::remove_cvref_t<decltype(slots)>,
                 decltype(gates)>{chosen, slots, std::move(gates), capacity};
}

struct no_routing {
  poison chosen, slots, gates;
  index_t capacity = 0;
};
template <bool Ok, class Token, class Expert, class Choice, class P, class S, class V>
constexpr auto routed_if(const gating& g, const P& p, const S& by, const V& valid, Choice choice) {
  if constexpr (!Ok || is_poison<P> || is_poison<S>) {
    return no_routing{};
  } else {
    using dims = typename scores_dims<P, Token, Expert>::by_expert;
    return routed<Token, Expert, Choice>(g, permuted<dims>(p), permuted<dims>(stop_gradient(by)),
                                         valid, shape<Choice>(choice).template extent<Choice>());
  }
}

}  // namespace detail

/// Sends each token to the experts with the greatest scores, as many as Choice has places: GShard's
/// gate with two, Switch's with one (and renormalise::never). Shapes: probabilities p and scores
/// `by`, [G.., Token, Expert]; valid[G.., Token], 0 for padding -> [G.., Token, Choice]. Weights
/// are those of p; only they have a gradient. What is not a number is the greatest score; where it
/// is p's, its token is first in line, so that one of a group at least shows in the result (in `by`
/// alone it is chosen, and does not show). Local. Throws dimesh::error where there are fewer
/// experts than choices.
template <Dim Token, Dim Expert, Dim Choice, Operand P, Operand S, class V = all_tokens>
constexpr auto route_by(const gating& g, const P& p, const S& by, const V& valid = {},
                        Choice choice = {}) {
  using rule = detail::scores_rule<Token, Expert, Choice>;
  using own = typename detail::scores_fault<rule, P, V>::type;
  using fault = typename dimesh::detail::first_of<own, detail::fault_of<rule, S>>::type;
  detail::assert_routes<fault>();
  return detail::routed_if<ok<fault>, Token, Expert, Choice>(g, p, by, valid, choice);
}
/// The same by the probabilities themselves.
template <Dim Token, Dim Expert, Dim Choice, Operand P, class V = all_tokens>
constexpr auto route(const gating& g, const P& p, const V& valid = {}, Choice choice = {}) {
  using rule = detail::scores_rule<Token, Expert, Choice>;
  using fault = typename detail::scores_fault<rule, P, V>::type;
  detail::assert_routes<fault>();
  return detail::routed_if<ok<fault>, Token, Expert, Choice>(g, p, p, valid, choice);
}

/// Experts choose: each takes as many tokens of a group as it has slots, those with the greatest
/// probability first (Zhou et al. 2022), so that all are full. A token may have any number of
/// experts: choice e is expert e, and Choice has the extent of Expert. A token's future decides
/// whether it is chosen: not for autoregressive models. Weights are the probabilities; `chosen` is
/// as `slots`. Capacity: that of one choice, so a factor of 2 gives two experts a token on average.
/// What is not a number is the greatest, as in route_by.
template <Dim Token, Dim Expert, Dim Choice, Operand P, class V = all_tokens>
constexpr auto expert_choice(const gating& g, const P& p, const V& valid = {}) {
  using rule = detail::scores_rule<Token, Expert, Choice>;
  using fault = typename detail::scores_fault<rule, P, V>::type;
  detail::assert_routes<fault>();
  if constexpr (!ok<fault> || is_poison<P>) {
    return detail::no_routing{};
  } else {
    using dims = detail::scores_dims<P, Token, Expert>;
    const auto scores = detail::permuted<typename dims::by_expert>(p);
    const index_t experts = scores.template extent<Expert>();
    const index_t capacity = capacity_of(g, 1, scores.template extent<Token>(), experts);
    const auto slots = detail::valid_only<
        detail::route_rule<detail::with_dims<typename dims::groups, Token, Choice>, Token, Expert,
                           Choice>,
        std::int32_t, typename dims::tokens>(
        detail::pick_op<value_of<P>>({&detail::facts_of_dim<Choice>, experts}, capacity),
        stop_gradient(scores), valid);
    auto gates = rename<Expert, Choice>(scores);
    using S = std::remove_cvref_t<decltype(slots)>;
    const auto chosen = dimesh::map(detail::expert_of_slot{capacity}, slots);
    return routing<std::remove_cvref_t<decltype(chosen)>, S, std::remove_cvref_t<decltype(gates)>>{
        chosen, slots, gates, capacity};
  }
}

}  // namespace dimesh::nn

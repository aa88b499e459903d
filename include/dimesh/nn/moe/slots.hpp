// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tokens get into the slots of their experts, and back? By numbers: slots[token, choice] is
// expert * capacity + place, or -1 where nobody takes the token. A copy each way, where products
// with one-hot masks would cost token * expert * capacity * model.
//
//   to_slots<token, choice, expert, slot>(x[batch/rows, token, model], slots[batch/rows, token,
//       choice], expert{8}, slot{16})           -> [expert, batch/rows, slot, model], else zeros
//   from_slots<token, choice, expert, slot>(y[expert, batch/rows, slot, model],
//       gates[batch/rows, token, choice], slots, token{64})  -> [batch/rows, token, model]
//
// Local. Tokens, choices, experts and slots are whole; all other dims may be split.
#pragma once

#include "dimesh/nn/moe/parts/slots_op.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/permute.hpp"

namespace dimesh::nn {

namespace detail {

using dimesh::detail::apply_rule;
using dimesh::detail::dims_without;
using dimesh::detail::facts_of_dim;
using dimesh::detail::fault_of;
using dimesh::detail::permuted;

/// One line where an assertion prints it.
template <class Fault>
using slots_lie_apart =
    only<Fault, meshes_differ, dims_share_mesh_axis, dim_split_in_one_operand_only,
         dim_split_differently, partial_operand, both_operands_partial, partial_meets_split>;
template <class Fault> constexpr void assert_slots() {
  static_assert(ok<only<Fault, dim_not_in_tensor, dim_already_in_tensor>>,
                "to_slots, from_slots: tokens have the dims of their slots but for the choices, "
                "and what is in slots those of experts and slots instead; name them so");
  static_assert(ok<only<Fault, dim_is_split, dim_has_halo>>,
                "to_slots, from_slots: tokens, choices, experts and slots are whole on a rank; "
                "split the groups, and relayout to split experts");
  static_assert(
      ok<slots_lie_apart<Fault>>,
      "to_slots, from_slots: tokens, gates and slots lie on the ranks differently, or are yet to "
      "be summed; relayout or complete one of them");
}

/// The dims of the groups: those of slots but for Token and Choice.
template <class Token, class Choice, class S>
using group_dims = dims_without<dims_without<typename spec_of<S>::dims, Token>, Choice>;
/// What tokens have beside the dims of their slots: the model's.
template <class X, class Gone>
using beside_dims = typename remaining<typename spec_of<X>::dims, Gone>::type;

template <class Groups, class... Last>
using with_dims = typename concat_impl<Groups, list<Last...>>::type;

/// Dims of tokens, of gates, and of what is in slots.
template <class Token, class Choice, class Expert, class Slot, class Groups, class Rest>
struct slot_dims {
  using tokens = typename concat_impl<with_dims<Groups, Token>, Rest>::type;
  using gates = with_dims<Groups, Token, Choice>;
  using slots = typename concat_impl<list<Expert>, with_dims<Groups, Slot>, Rest>::type;
};

}  // namespace detail

/// Tokens in the slots of their experts; zeros in slots that nobody has. Shapes: x[G.., Token, ..]
/// and whole numbers slots[G.., Token, Choice] -> [Expert, G.., Slot, ..]. Expert and Slot carry
/// their extents where those are given at run time. Linear in x. Local.
template <Dim Token, Dim Choice, Dim Expert, Dim Slot, Operand X, Operand S>
constexpr auto to_slots(const X& x, const S& slots, Expert expert = {}, Slot slot = {}) {
  if constexpr (is_poison<X> || is_poison<S>) {
    return poison{};
  } else {
    using groups = detail::group_dims<Token, Choice, S>;
    using rest = detail::beside_dims<X, typename spec_of<S>::dims>;
    using dims = detail::slot_dims<Token, Choice, Expert, Slot, groups, rest>;
    using rule = detail::slots_rule<Token, Choice, Expert, Slot, true, typename dims::slots>;
    using fault = detail::fault_of<rule, X, S>;
    detail::assert_slots<fault>();
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::apply_rule<rule, value_of<X>>(
          detail::to_slots_op<value_of<X>, false>{{&detail::facts_of_dim<Expert>,
                                                   &detail::facts_of_dim<Slot>,
                                                   shape<Expert>(expert).template extent<Expert>(),
                                                   shape<Slot>(slot).template extent<Slot>()}},
          detail::permuted<typename dims::tokens>(x),
          detail::permuted<typename dims::gates>(slots));
  }
}

/// What the slots of each token hold, times its gates, added up; zeros for a token without slots.
/// Shapes: y[Expert, G.., Slot, ..], gates[G.., Token, Choice] and whole numbers slots[G.., Token,
/// Choice] -> [G.., Token, ..]. Linear in y and in the gates, which take y's element type. Local.
template <Dim Token, Dim Choice, Dim Expert, Dim Slot, Operand Y, Operand W, Operand S>
constexpr auto from_slots(const Y& y, const W& gates, const S& slots) {
  if constexpr (is_poison<Y> || is_poison<W> || is_poison<S>) {
    return poison{};
  } else {
    using groups = detail::group_dims<Token, Choice, S>;
    using gone = detail::with_dims<groups, Expert, Slot>;
    using dims =
        detail::slot_dims<Token, Choice, Expert, Slot, groups, detail::beside_dims<Y, gone>>;
    using rule = detail::slots_rule<Token, Choice, Expert, Slot, false, typename dims::tokens>;
    using fault = detail::fault_of<rule, Y, W, S>;
    detail::assert_slots<fault>();
    if constexpr (!ok<fault>)
      return poison{};
    else
      return detail::apply_rule<rule, value_of<Y>>(
          detail::from_slots_op<value_of<Y>, true>{
              {&detail::facts_of_dim<Expert>, &detail::facts_of_dim<Slot>, dynamic, dynamic}},
          detail::permuted<typename dims::slots>(y),
          detail::permuted<typename dims::gates>(cast<value_of<Y>>(gates)),
          detail::permuted<typename dims::gates>(slots));
  }
}

}  // namespace dimesh::nn

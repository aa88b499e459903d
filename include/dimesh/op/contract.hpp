// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are tensors contracted whose blocks do not fit each other as they lie? By a schedule, which
// says what travels and when; einsum does what needs no message, and refuses the rest.
//
//   contract<by::ring<rows>, m, n>(x[m/rows, k], y[k, n/rows])             -> [m/rows, n]
//   contract<by::summa<rows, cols, 256>, m, n>(x[m/rows, k/cols], y[k/rows, n/cols])
//     -> [m/rows, n/cols]
//   contract<by::best<layout<pod, split<m, rows>>>, m, n>(x, y)            -> [m/rows, n]
//   contract<by::best<>, m, o>(x, y, z)       pair by pair, the cheapest first
//
// The layout of the result follows from the schedule and the operands' layouts. Transposes are
// contractions of the cotangent with the other operand, about the same bytes again for each.
#pragma once

#include "dimesh/op/parts/contract_chain.hpp"

namespace dimesh {

namespace detail {

/// What is wrong with the name that stands first, if anything is.
template <class S>
concept says_where_to_meet = requires(rule_operands x, dim_list out) { S::meet(x, out); };
template <class S> struct contract_schedule_fault {
  using type = not_a_schedule<S>;
};
template <class Axes> struct schedule_axes_fault;
template <class... A> struct schedule_axes_fault<list<A...>> : first_of<axis_fault<A>...> {};
template <says_where_to_meet S>
struct contract_schedule_fault<S> : schedule_axes_fault<typename S::axes> {};
template <class L, index_t Memory> struct contract_schedule_fault<by::best<L, Memory>> {
  using type = std::conditional_t<std::is_void_v<L> || Layout<L>, no_fault, not_a_layout<L>>;
};
template <bool Few, class Named, class Schedule, class Out, class... X> struct contract_fault {
  using type = Named;
};
template <class Schedule, class Out, class... X>
struct contract_fault<true, no_fault, Schedule, Out, X...> {
  using type = fault_of<typename contract_call<Schedule, Out>::rule, X...>;
};
template <class L, index_t Memory, class Out, class X, class Y>
  requires(Memory > 0 && !is_poison<X> && !is_poison<Y> && !is_probe<X> && !is_probe<Y>)
struct contract_fault<true, no_fault, by::best<L, Memory>, Out, X, Y> {
  using rule = typename contract_call<by::best<L, Memory>, Out>::rule;
  static constexpr index_t wanted() {
    if constexpr (ok<fault_of<rule, X, Y>>)
      return rule::wanted({facts_list<spec_of<X>, spec_of<Y>>::at, 2});
    else
      return 0;
  }
  using type = typename first_of<fault_of<rule, X, Y>, memory_fault<wanted(), Memory>>::type;
};

template <class Schedule> inline constexpr bool is_best = false;
template <class L, index_t Memory> inline constexpr bool is_best<by::best<L, Memory>> = true;

template <class Fault> struct only_exceeding {
  using type = no_fault;
};
template <long Needed, long Memory> struct only_exceeding<operands_exceed_memory<Needed, Memory>> {
  using type = operands_exceed_memory<Needed, Memory>;
};

template <class Fault, class Schedule> constexpr void assert_contract() {
  using no_product = only<Fault, dim_repeated, output_dim_not_in_any_input, dim_in_one_input_only,
                          elements_differ>;
  static_assert(ok<only<Fault, not_a_layout>>,
                "contract: by::best takes the layout of the result: by::best<layout<mesh, "
                "rules...>>");
  static_assert(ok<only<Fault, meshes_differ>>,
                "contract: the operands, or the layout of the result, are of different meshes; put "
                "them on one");
  static_assert(ok<only_placed<Fault>>,
                "contract: the operands live on different ranks of this axis; place<axis, k> the "
                "one that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(
      ok<no_product>,
      "contract: whatever their layouts, the operands make no such product: every dim stands in "
      "two of the three tensors, once in each, and elements are of one type");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "contract: blocks of an operand carry halos; take the tensor without them");
  static_assert(ok<only<Fault, axis_not_in_mesh>>,
                "contract: the operands' mesh lacks an axis of the schedule, or of the layout; "
                "name its own");
  static_assert(
      ok<only<Fault, axis_splits_nothing, axis_not_innermost_of_dim>>,
      "contract: an axis of the schedule cuts no blocks: a ring's axis cuts an operand and the "
      "result, innermost; summa's a summed dim in each operand");
  // By best any operands meet: then it is the layout named for the result that is to blame.
  using of_operands = std::conditional_t<is_best<Schedule>, no_fault, Fault>;
  using of_layout = std::conditional_t<is_best<Schedule>, Fault, no_fault>;
  static_assert(ok<only<of_layout, dims_share_mesh_axis>>,
                "contract: the layout for by::best splits two dims of the result over one axis; "
                "leave one whole");
  using apart =
      only<of_operands, dims_share_mesh_axis, dim_split_in_one_operand_only, dim_split_differently>;
  static_assert(
      ok<apart>,
      "contract: two dims want one axis, or the operands split a dim differently, even after the "
      "schedule; relayout one, or take by::gather or by::best");
  static_assert(
      ok<only<Fault, both_operands_partial, partial_operand, partial_meets_split>>,
      "contract: an operand is yet to be summed where the other one is, or is split; complete it "
      "first");
  static_assert(ok<only<of_layout, axis_not_partial>>,
                "contract: the layout for by::best holds addends along an axis that has none: no "
                "operand holds any, nor can it split a summed dim of both; leave partial out");
  static_assert(
      ok<only<of_operands, axis_not_partial, axis_not_replicated, dim_not_in_tensor>>,
      "contract: reduce_scatter wants an axis that splits a summed dim and a dim of the result; "
      "summa a spare axis that both operands replicate");
  static_assert(ok<typename only_exceeding<Fault>::type>,
                "contract: by::best gathers more bytes of operands than it may, and they send no "
                "blocks by ring or panels; allow the bytes named first, or split them further");
  static_assert(ok<only<Fault, element_not_summable>>,
                "contract: ranks cannot add up elements of this type; cast the operands first");
  static_assert(ok<only_not_divisible<Fault>>,
                "contract: the extent of a split dim of the result is not a multiple of its mesh "
                "axes; change one, or split uneven<dim>");
  static_assert(ok<only<Fault, axis_used_twice, dim_has_two_rules, place_not_on_axis>>,
                "contract: the rules of the result's layout do not agree; mend the layout");
}

}  // namespace detail

/// The product of x and y, summed over the dims that Out... lacks, whatever their layouts. Shapes:
/// as of einsum. Received bytes, memory and the layout of the result: as the schedule says.
/// Communicates; the transpose is a contraction of the cotangent with the other operand. Of
/// elements in which no sums are formed (bfloat16), ring and summa gather, too.
template <class Schedule, Dim... Out, Operand X, Operand Y>
constexpr auto contract(const X& x, const Y& y) {
  constexpr bool few = is_poison<X> || is_poison<Y> || detail::has_few_dims<X, Y>;
  using fault =
      typename detail::contract_fault<few, typename detail::contract_schedule_fault<Schedule>::type,
                                      Schedule, detail::list<Out...>, X, Y>::type;
  static_assert(few,
                "contract: the operands have more than 16 dims between them; multiply fewer at a "
                "time, or merge dims that stay side by side");
  static_assert(ok<only<fault, not_a_schedule>>,
                "contract: how blocks move stands first in the angle brackets, before the dims: "
                "contract<by::best<>, m, n>(x, y)");
  static_assert(ok<only<fault, not_an_axis>>,
                "contract: a schedule goes along axes of the mesh, and names something else: "
                "by::ring<rows>, by::summa<rows, cols>");
  detail::assert_contract<fault, Schedule>();
  if constexpr (!few || !ok<fault> || is_poison<X> || is_poison<Y>)
    return poison{};
  else
    return detail::contract_call<Schedule, detail::list<Out...>>::run(x, y);
}
/// The product of three operands or more, summed over the dims that Out... lacks: pair by pair, the
/// one first that costs a rank the least as far as types say, by layout and size (an extent known
/// at run time counts as 64, such an axis as two ranks; a byte received as 16 operations).
/// Schedule: by::best alone, which brings the result under its layout; what stands between keeps
/// the splits of its dims, and addends that an operand holds where the last result is smaller.
/// Communicates as the products of two do, forward and backward.
template <class Schedule, Dim... Out, Operand X, Operand Y, Operand Z, Operand... More>
constexpr auto contract(const X& x, const Y& y, const Z& z, const More&... more) {
  using out = detail::list<Out...>;
  constexpr bool few = detail::has_few_dims<X, Y, Z, More...>;
  using fault = typename detail::chain_fault<few, Schedule, out, X, Y, Z, More...>::type;
  static_assert(few,
                "contract: the operands have more than 16 dims between them; multiply fewer at a "
                "time, or merge dims that stay side by side");
  static_assert(ok<only<fault, not_a_schedule>>,
                "contract: three operands and more are multiplied by::best, which chooses the "
                "pairs: contract<by::best<>, m, n>(x, y, z)");
  detail::assert_contract<fault, Schedule>();
  if constexpr (!few || !ok<fault>)
    return poison{};
  else
    return detail::contract_chain<Schedule, out>(x, y, z, more...);
}

namespace detail {
template <class... Out> constexpr poison refuse_bare_schedule() {
  static_assert(
      ok<wrong_arguments<Out...>>,
      "contract: a schedule has angle brackets of its own, with its axes or with nothing: "
      "contract<by::best<>, m, n>(x, y), contract<by::ring<rows>, m, n>(x, y)");
  return {};
}
}  // namespace detail
/// A schedule without its own angle brackets; those of by::best and by::summa have defaults, too.
template <template <class> class Schedule, class... Out, Operand... X>
constexpr poison contract(const X&...) {
  return detail::refuse_bare_schedule<Out...>();
}
template <template <class, class> class Schedule, class... Out, Operand... X>
constexpr poison contract(const X&...) {
  return detail::refuse_bare_schedule<Out...>();
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do types follow from a rule? One template makes the fault that an entry point asserts, from
// the code and the culprits' places that the rule gives; one makes the result's spec. No operation
// has such templates of its own.
//
//   spec_fault<sum_rule, S>            -> no_fault, or partial_operand<rows>
//   result_spec<sum_rule, float, S>    -> spec<float, layout<...>, ...>
#pragma once

#include "dimesh/core/rule.hpp"

namespace dimesh::detail {

template <class Rule> struct named_dims {
  using type = list<>;
};
template <class Rule>
  requires requires { typename Rule::named; }
struct named_dims<Rule> {
  using type = typename Rule::named;
};

template <class... S> struct facts_list {
  static constexpr const tensor_facts* at[] = {&spec_facts<S>...};
};
/// What a rule says of specs S...
template <class Rule, class... S> struct ruling {
  using specs = list<S...>;
  using rule = Rule;
  using mesh = typename type_at<0, specs>::mesh;
  using dims = typename Rule::template dims<typename S::dims...>::type;

  static constexpr outcome value =
      Rule::of(rule_operands{facts_list<S...>::at, sizeof...(S)}, dims_in<dims>);
};

/// The type with a number, among the dims of the operands and those that the caller names.
template <std::uint64_t Number, class Dims> struct dim_numbered;
template <std::uint64_t Number, class... D> struct dim_numbered<Number, list<D...>> {
  static constexpr int find() {
    int i = 0, found = -1;
    ((found = found < 0 && type_number<D> == Number ? i : found, ++i), ...);
    return found;
  }
  using type = type_at<find(), list<D...>>;
};
template <class R, class Specs> struct culprits;
template <class R, class... S> struct culprits<R, list<S...>> {
  using dims = typename concat_impl<list<>, typename S::dims...,
                                    typename named_dims<typename R::rule>::type>::type;
};
template <class R>
using culprit_dim = typename dim_numbered<R::value.dim->number,
                                          typename culprits<R, typename R::specs>::dims>::type;
template <class R>
using other_dim = typename dim_numbered<R::value.other->number,
                                        typename culprits<R, typename R::specs>::dims>::type;
/// An axis of the operands' mesh, or one that the caller names.
template <class R, bool Own = (R::value.axis >= 0)> struct axis_of_culprit {
  using type = type_at<R::value.axis, typename R::mesh::axes>;
};
template <class R> struct axis_of_culprit<R, false> {
  using type = type_at<R::value.place, typename R::rule::axes>;
};
template <class R> using culprit_axis = typename axis_of_culprit<R>::type;
template <class R> using culprit_spec = type_at<R::value.place, typename R::specs>;

/// The fault of a ruling as a type.
template <fault_code, class R> struct fault_made;
template <class R> struct fault_made<fault_code::none, R> {
  using type = no_fault;
};
template <class R> struct fault_made<fault_code::axis_not_in_mesh, R> {
  using type = axis_not_in_mesh<type_at<R::value.place, typename R::rule::axes>, typename R::mesh>;
};
template <class R> struct fault_made<fault_code::dim_repeated, R> {
  using type = dim_repeated<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dims_share_mesh_axis, R> {
  using type = dims_share_mesh_axis<culprit_dim<R>, other_dim<R>, culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::axis_used_twice, R> {
  using type = axis_used_twice<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::extent_not_divisible, R> {
  using type = extent_not_divisible<culprit_dim<R>, static_extent<culprit_dim<R>>, culprit_axis<R>,
                                    R::value.size>;
};
template <class R> struct fault_made<fault_code::meshes_differ, R> {
  using type = meshes_differ<typename R::mesh, typename culprit_spec<R>::mesh>;
};
template <class R> struct fault_made<fault_code::partial_operand, R> {
  using type = partial_operand<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::both_operands_partial, R> {
  using type = both_operands_partial<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::partial_meets_replicated, R> {
  using type = partial_meets_replicated<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::partial_meets_scalar, R> {
  using type = partial_meets_scalar<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::partial_meets_split, R> {
  using type = partial_meets_split<culprit_axis<R>, culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dim_split_in_one_operand_only, R> {
  using type = dim_split_in_one_operand_only<culprit_dim<R>, culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::dim_split_differently, R> {
  using type = dim_split_differently<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::placed_elsewhere, R> {
  using type = placed_elsewhere<culprit_axis<R>, R::value.at, R::value.other_at>;
};
template <class R> struct fault_made<fault_code::placed_in_one_operand_only, R> {
  using type = placed_in_one_operand_only<culprit_axis<R>, R::value.at>;
};
template <class R> struct fault_made<fault_code::tensor_is_placed, R> {
  using type = tensor_is_placed<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::place_not_on_axis, R> {
  using type = place_not_on_axis<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::output_dim_not_in_any_input, R> {
  using type = output_dim_not_in_any_input<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dim_in_one_input_only, R> {
  using type = dim_in_one_input_only<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dim_is_split, R> {
  using type = dim_is_split<culprit_dim<R>, culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::dim_not_in_tensor, R> {
  using type = dim_not_in_tensor<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dim_not_in_order, R> {
  using type = dim_not_in_order<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dim_already_in_tensor, R> {
  using type = dim_already_in_tensor<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::dim_has_halo, R> {
  using type = dim_has_halo<culprit_dim<R>>;
};
template <class R> struct fault_made<fault_code::extents_differ, R> {
  using type = extents_differ<culprit_dim<R>, other_dim<R>>;
};
template <class Specs> struct all_elements;
template <class... S> struct all_elements<list<S...>> {
  using fault = elements_differ<typename S::value_type...>;
};
template <class R> struct fault_made<fault_code::elements_differ, R> {
  using type = typename all_elements<typename R::specs>::fault;
};
template <class Dims> struct not_scalar;
template <class... D> struct not_scalar<list<D...>> {
  using fault = value_not_scalar<D...>;
};
template <class R> struct fault_made<fault_code::value_not_scalar, R> {
  using type = typename not_scalar<typename type_at<0, typename R::specs>::dims>::fault;
};
template <class R> struct fault_made<fault_code::axis_not_partial, R> {
  using type = axis_not_partial<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::axis_not_replicated, R> {
  using type = axis_not_replicated<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::axis_not_placed, R> {
  using type = axis_not_placed<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::axis_splits_nothing, R> {
  using type = axis_splits_nothing<culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::axis_not_innermost_of_dim, R> {
  using type = axis_not_innermost_of_dim<culprit_dim<R>, culprit_axis<R>>;
};
template <class R> struct fault_made<fault_code::element_not_differentiable, R> {
  using type = element_not_differentiable<typename culprit_spec<R>::value_type>;
};
template <class R> struct fault_made<fault_code::element_not_summable, R> {
  using type = element_not_summable<typename culprit_spec<R>::value_type>;
};

template <class R> struct fault_made<fault_code::no_operand_has_all_dims, R> {
  using type = no_operand_has_all_dims<culprit_dim<R>, other_dim<R>>;
};

/// The layout that a caller names: the fault is told of it, or of its mesh and that of the operand.
template <class L, class Dims> struct goal_formation;
template <class L, class... D> struct goal_formation<L, list<D...>> {
  using fault = layout_fault<L, D...>;
};
template <bool OfGoal, class R> struct ruling_fault : fault_made<R::value.found, R> {};
template <class R> struct ruling_fault<true, R> {
  using type = typename goal_formation<typename R::rule::goal, typename R::dims>::fault;
};
template <class R>
  requires(R::value.found == fault_code::meshes_differ && requires { typename R::rule::goal; })
struct ruling_fault<false, R> {
  using type = meshes_differ<typename R::rule::goal::mesh, typename R::mesh>;
};

// Choices by a bool whose member templates are aliases: nothing is instantiated for the types at
// hand where nothing is wrong.
template <bool Ok> struct fault_unless {
  template <class R> using type = no_fault;
};
template <> struct fault_unless<false> {
  template <class R> using type = typename ruling_fault<R::value.is_of_goal, R>::type;
};
/// What a rule finds wrong with specs S...
template <class Rule, class... S>
using spec_fault =
    typename fault_unless<ruling<Rule, S...>::value.ok()>::template type<ruling<Rule, S...>>;

/// Of operands; no_fault where one is poison, whose fault has been told, or where only the run
/// knows.
template <bool Silent> struct operand_fault {
  template <class Rule, class... X> using type = no_fault;
};
template <> struct operand_fault<false> {
  template <class Rule, class... X> using type = spec_fault<Rule, typename X::spec_type...>;
};

/// Does a rule say that no element may be complex? Types know, of probes too.
template <class Rule> inline constexpr bool is_of_reals = false;
template <class Rule>
  requires requires { Rule::of_reals; }
inline constexpr bool is_of_reals<Rule> = Rule::of_reals;
template <class... X>
struct any_complex : std::bool_constant<(is_complex<typename X::spec_type::value_type> || ...)> {};
/// Is an element complex? Nothing is instantiated where nobody asks.
template <bool Asked> struct complex_among {
  template <class...> using type = std::false_type;
};
template <> struct complex_among<true> {
  template <class... X> using type = any_complex<X...>;
};
template <bool Complex> struct element_fault {
  template <class Silent, class Rule, class... X>
  using type = typename operand_fault<Silent::value>::template type<Rule, X...>;
};
template <> struct element_fault<true> {
  template <class, class, class... X>
  using type =
      element_is_complex<typename first_complex<typename X::spec_type::value_type...>::type>;
};

/// The spec, with elements T, that a rule gives for specs S... without a fault.
template <class Rule, class T, class... S>
using result_spec = typename spec_of_list<
    T, typename ruling<Rule, S...>::dims,
    typename coded_layout<typename ruling<Rule, S...>::mesh, typename ruling<Rule, S...>::dims,
                          encoded(ruling<Rule, S...>::value.layout)>::type>::type;

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the product of tensors, summed over the dims that the result lacks? A local contraction
// of blocks. Where a summed dim is split over an axis, each rank has an addend: the result is
// partial along that axis, and `complete` is the user's to call.
//
//   einsum<batch, hidden>(x[batch/rows, pixel], w[pixel, hidden/cols])  -> [batch/rows,
//                                                                       hidden/cols]
//   einsum<batch, label>(h[batch/rows, hidden/cols], v[hidden/cols, label])
//     -> [batch/rows, label], partial over cols
#pragma once

#include <tuple>

#include "dimesh/detail/stated_type.hpp"
#include "dimesh/op/parts/einsum_op.hpp"
#include "dimesh/op/parts/element_operators.hpp"
#include "dimesh/op/parts/repair.hpp"
#include "dimesh/op/permute.hpp"

namespace dimesh {

namespace detail {

// ---- three operands and more: pairwise, the cheapest pair first ---------------------------------

struct operand_pair {
  std::size_t first = 0, second = 1;
};

/// The dims that the product of operands i and j must keep: those of Out or of another operand.
template <class Out, std::size_t I, std::size_t J, class... Dims> struct pair_dims {
  using dims = united<type_at<I, list<Dims...>>, type_at<J, list<Dims...>>>;
  template <class D> static constexpr bool kept() {
    std::size_t k = 0;
    bool needed = index_of<D, Out> >= 0;
    ((needed = needed || (k != I && k != J && index_of<D, Dims> >= 0), ++k), ...);
    return needed;
  }
  template <class D> using if_kept = std::conditional_t<kept<D>(), list<D>, list<>>;
  template <class... D>
  static auto filter(list<D...>) -> typename concat_impl<list<>, if_kept<D>...>::type;
  using type = decltype(filter(dims{}));
};

/// The ranks that share the elements of a dim out in one of two operands.
constexpr double sharing_ranks(const tensor_facts& a, const tensor_facts& b, const dim_facts* d) {
  unsigned axes = 0;
  for (const tensor_facts* x : {&a, &b})
    if (const int place = x->place_of(d); place >= 0) axes |= x->layout.axes_of(place);
  double n = 1;
  for (int i = 0; i < a.layout.axes; ++i)
    if (axes >> i & 1u) n *= measure{}.size_of(a, i);
  return n;
}
/// The pair whose product takes a rank the fewest operations; an extent known at run time counts as
/// 64, such an axis as two ranks. Facts: of the operands (null: nothing is split).
template <class... Dims>
constexpr operand_pair cheapest_pair(const tensor_facts* const* facts = nullptr) {
  constexpr dim_list all = dims_in<united<Dims...>>;
  constexpr dim_list x[] = {dims_in<Dims>...};
  operand_pair best;
  double least = -1;
  for (std::size_t i = 0; i < sizeof...(Dims); ++i)
    for (std::size_t j = i + 1; j < sizeof...(Dims); ++j) {
      double work = 1;
      for (int d = 0; d < all.size; ++d)
        if (x[i].has(all[d]) || x[j].has(all[d]))
          work *= measure{}.extent_of(all[d]) /
                  (facts == nullptr ? 1 : sharing_ranks(*facts[i], *facts[j], all[d]));
      if (least < 0 || work < least) least = work, best = {i, j};
    }
  return best;
}

template <class Out, bool Unrounded, class... X> constexpr auto einsum_chain(const X&... x);

template <class Out, bool Unrounded, std::size_t I, std::size_t J, std::size_t... Rest, class... X>
constexpr auto einsum_pair(std::index_sequence<Rest...>, const X&... x) {
  constexpr auto other = [](std::size_t k) { return k < I ? k : k + 1 < J ? k + 1 : k + 2; };
  const auto all = std::tie(x...);
  using inner = typename pair_dims<Out, I, J, typename spec_of<X>::dims...>::type;
  const auto product = einsum_of_two<inner, false>(std::get<I>(all), std::get<J>(all));
  return einsum_chain<Out, Unrounded>(product, std::get<other(Rest)>(all)...);
}

template <class Out, bool Unrounded, class... X> constexpr auto einsum_chain(const X&... x) {
  if constexpr (sizeof...(X) == 2) {
    return einsum_of_two<Out, Unrounded>(x...);
  } else {
    constexpr operand_pair pair =
        cheapest_pair<typename spec_of<X>::dims...>(facts_list<spec_of<X>...>::at);
    return einsum_pair<Out, Unrounded, pair.first, pair.second>(
        std::make_index_sequence<sizeof...(X) - 2>{}, x...);
  }
}

template <class Out, class... X> struct einsum_fault {
  using type = no_fault;  // of too many dims nothing is asked
};
template <class Out, class... X>
  requires has_few_dims<X...>
struct einsum_fault<Out, X...> {
  using type = fault_of<einsum_rule<Out>, X...>;
};

/// What elements lack of which products are formed; of one operand, or a faulty call, nothing.
template <bool Asked, class... X> struct product_lack {
  using type = no_fault;
};
template <class X, class Y, class... More>
struct product_lack<true, X, Y, More...> : lack<element_use::sums_of_products, X, Y, More...> {};

template <class... X> using first_value = value_of<type_at<0, list<X...>>>;
/// Two operands, and a result of their element type, which has products: nothing stands between.
template <class As, class X1, class... X>
inline constexpr bool is_one_product =
    sizeof...(X) == 1 && element_traits<value_of<X1>>::has_products &&
    (std::is_void_v<As> || std::is_same_v<As, value_of<X1>>);

/// Else: the product as elements of As (void: of the operands' type), rounded once.
template <class As, class Out, class X1, class... X>
constexpr auto einsum_as(const X1& x1, const X&... x) {
  using T = value_of<X1>;
  constexpr bool unrounded = is_storage_only<T> && !std::is_void_v<As> && !std::is_same_v<As, T>;
  if constexpr (!element_traits<T>::has_products)
    return cast<std::conditional_t<std::is_void_v<As>, T, As>>(
        einsum_as<void, Out>(cast<computed<T>>(x1), cast<computed<T>>(x)...));
  else if constexpr (!unrounded && !std::is_void_v<As> && !std::is_same_v<As, T>)
    return cast<As>(einsum_as<void, Out>(x1, x...));
  else if constexpr (unrounded && !std::is_same_v<As, computed<T>>)
    return cast<As>(einsum_as<computed<T>, Out>(x1, x...));
  else if constexpr (unrounded && sizeof...(X) == 0)
    return cast<As>(permuted<Out>(x1));
  else if constexpr (sizeof...(X) == 0)
    return permuted<Out>(x1);
  else
    return einsum_chain<Out, unrounded>(x1, x...);
}

}  // namespace detail

/// The product of the operands, summed over the dims that Out... lacks. Shapes: every dim stands in
/// Out... or in two operands at least; of one operand only the order of its dims changes. Products
/// of three or more are formed pairwise, first the pair that costs a rank the least. Local; where a
/// summed dim is split, the result is partial along its axes. A real type before the dims is that
/// of the result. Products of bfloat16 are added in float and rounded once, where the result is
/// bfloat16; where it is asked for in float, the cotangent is rounded on the way back.
template <detail::DimOrReal... Out, Operand... X>
  requires(sizeof...(X) > 0 && detail::DimsAfterType<Out...>)
constexpr auto einsum(const X&... x) {
  using out = typename detail::stated<Out...>::dims;
  constexpr bool few = (is_poison<X> || ...) || detail::has_few_dims<X...>;
  using fault = typename detail::einsum_fault<out, X...>::type;
  static_assert(few,
                "einsum: the operands have more than 16 dims between them; multiply fewer at a "
                "time, or merge dims that stay side by side");
  static_assert(ok<only<fault, meshes_differ>>,
                "einsum: the operands live on different meshes; put them on one");
  static_assert(ok<only_placed<fault>>,
                "einsum: the operands live on different ranks of this axis; place<axis, k> the one "
                "that all of them hold (free), or send<axis, k> the one that lives elsewhere");
  static_assert(ok<only<fault, dim_repeated>>,
                "einsum: a dim stands twice in the result; name it once");
  static_assert(ok<only<fault, output_dim_not_in_any_input>>,
                "einsum: an output dimension appears in none of the inputs; leave it out, or pass "
                "the operand that has it");
  static_assert(ok<only<fault, elements_differ>>,
                "einsum: the operands have different element types; cast one of them");
  static_assert(ok<only<fault, dim_in_one_input_only>>,
                "einsum: a dim is in one input only and not in the output; sum it first, or name "
                "it in the output");
  static_assert(
      ok<only<fault, dim_has_halo>>,
      "einsum: blocks of a dim that is summed carry a halo, which would count twice; take "
      "the tensor without it");
  static_assert(
      ok<with_repair<only<fault, dims_share_mesh_axis>, out, X...>>,
      "einsum: two dims are split over the same mesh axis; split one of them over another axis, or "
      "gather it with whole<dim>");
  static_assert(
      ok<with_repair<only<fault, dim_split_in_one_operand_only>, out, X...>>,
      "einsum: a dim is split in one operand only; take own<dim, axis> of the other (free), or "
      "gather it with whole<dim>");
  static_assert(ok<with_repair<only<fault, dim_split_differently>, out, X...>>,
                "einsum: the operands split a dim in different ways; relayout one of them");
  static_assert(ok<only<fault, both_operands_partial>>,
                "einsum: two operands are sums yet to be made; complete one of them first");
  static_assert(ok<only<fault, partial_operand>>,
                "einsum: an operand is a maximum or minimum yet to be made; complete it first");
  static_assert(ok<only<fault, partial_meets_split>>,
                "einsum: an operand is a sum yet to be made along an axis that splits the other; "
                "complete it first");
  using lacking = typename detail::product_lack<ok<fault>, X...>::type;
  static_assert(
      ok<lacking>,
      "einsum: elements of this type have no * or +, or are not made of 0; map them to numbers, "
      "or give the type these operators");
  if constexpr (!few || !ok<fault> || !ok<lacking> || (is_poison<X> || ...))
    return poison{};
  else if constexpr (detail::is_one_product<typename detail::stated<Out...>::type, X...>)
    return detail::apply_rule<detail::einsum_rule<out>, detail::first_value<X...>>(
        detail::einsum_op<detail::first_value<X...>>{}, x...);
  else
    return detail::einsum_as<typename detail::stated<Out...>::type, out>(x...);
}

}  // namespace dimesh

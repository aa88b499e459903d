// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order do the elements along a dim stand that ranks split? As sort and argsort say, and
// cut as before: each element travels once, to the rank whose block it belongs to then, whatever
// the data. Sorting by regular sampling with exact cuts; where the dim is whole nothing is said.
//
//   sort_all_to_all<token>(x[token/rows])                       -> [token/rows], ascending
//   argsort_all_to_all<token>(x[token/rows], order::descending) -> places among all, int32
//
// Of equals the first stays first, as std::stable_sort has it; NaN is greater than any number.
#pragma once

#include <memory>

#include "dimesh/op/parts/sorted_exchange.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/sort.hpp"

namespace dimesh {

namespace detail {

/// D may be split; halos would be sorted along.
template <class D> struct sorted_across_rule : keeps_dims {
  using named = list<D>;
  static constexpr bool of_reals = true;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int d = x[0].place_of(&facts_of_dim<D>);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, &facts_of_dim<D>);
    if (const int a = x[0].layout.first_partial(); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    return without_halos_only(x[0], allowed(x[0].layout));
  }
};
template <class Fault, class X> constexpr void assert_ordered_across() {
  using lacking = std::conditional_t<ok<Fault>, lack_of<element_use::known_order, X>, no_fault>;
  static_assert(ok<lacking>,
                "sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: "
                "elements of this type have no order that is known; map them to numbers first");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: "
                "the tensor lacks this dim; name one of its own");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "top_k_all_gather: the tensor has the new dim already; choose another for the "
                "greatest");
  static_assert(ok<only<Fault, partial_operand>>,
                "sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: "
                "the operand is a sum yet to be made; complete it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: "
                "the blocks carry halos, which would count twice; do it before halo_exchange");
  static_assert(ok<only<Fault, element_is_complex>>,
                "sort_all_to_all, argsort_all_to_all, top_k_all_gather, nth_largest_all_gather: "
                "complex numbers have no order; take real(x) or norm2(x) first");
}
/// A rank numbers the elements of its own block while it sorts them: all ask of the longest.
template <class D, class X> constexpr void require_few_of_block(std::string_view call, const X& x) {
  const placement where = placement_of(core_of(x));
  const int d = index_of<D, typename spec_of<X>::dims>;
  require_few_places<D>(
      call, longest_block(core_of(x).layout(), d, where.extent[d], where.sizes, where.cuts),
      " on a rank");
}

template <bool Descending> using before = local::detail::before<Descending>;

/// What sorting costs besides moving.
constexpr void count_sorting(tally& t, const tensor_core& x, int d, index_t made) {
  index_t steps = 1;
  for (index_t n = x.local(d); n > 2; n /= 2) ++steps;
  t.compute(x.elements() * steps, x.bytes() + made);
}
constexpr index_t cuts_between_blocks(const cut_dim& dim) { return dim.ranks() - 1; }

/// What is known of the way of shapes, and remembered of one that nobody will go back.
struct no_way {};
template <class X>
using way_of =
    std::conditional_t<is_tracked<X> && !is_shaped<X>, std::shared_ptr<sorted_exchange>, no_way>;
template <class Way> constexpr Way new_way() {
  if constexpr (std::is_same_v<Way, no_way>)
    return {};
  else
    return std::make_shared<sorted_exchange>();
}

/// Elements T to where they were sorted to, or back.
template <class T, bool Back, class Way> struct sorted_move_op {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "sort_all_to_all";
  static constexpr bool takes_complex = true;
  int d;
  Way way;

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, x[0].bytes() + y[0].bytes());
    count_sorted_move(t, dim_in_order(x[0], d), lines_of(x[0], d), x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  void fill(results y, operands x) const {
    if constexpr (!std::is_same_v<Way, no_way>)
      way->template move<Back>(x[0].data<const T>(), y[0].data<T>());
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, sorted_move_op<T, !Back, Way>{d, way}, to.ybar);
  }
};

/// Elements T in order along dim d. Fills `way`, which the transpose goes back.
template <class T, bool Descending, class Way> struct sort_across_op {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "sort_all_to_all";
  int d;
  Way way;

  constexpr void cost(tally& t, results y, operands x) const {
    const cut_dim dim = dim_in_order(x[0], d);
    count_sorting(t, x[0], d, y[0].bytes());
    count_cuts(t, dim, lines_of(x[0], d), cuts_between_blocks(dim), sizeof(T));
    count_sorted_move(t, dim, lines_of(x[0], d), x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  void fill(results y, operands x) const {
    constexpr bool remember = !std::is_same_v<Way, no_way>;
    sorted_exchange here;
    here.sort<T, before<Descending>>(x[0], d, y[0].data<T>(), remember);
    if constexpr (remember) *way = std::move(here);
  }
  constexpr void transpose(const auto& to) const {
    to.give(0, sorted_move_op<T, true, Way>{d, way}, to.ybar);
  }
};

/// Where they stood among all.
template <class T, bool Descending> struct argsort_across_op {
  static constexpr bool on_host = true;
  static constexpr std::string_view call = "argsort_all_to_all";
  int d;

  constexpr void cost(tally& t, results y, operands x) const {
    const cut_dim dim = dim_in_order(x[0], d);
    count_sorting(t, x[0], d, y[0].bytes());
    count_cuts(t, dim, lines_of(x[0], d), cuts_between_blocks(dim), sizeof(T));
    count_sorted_move(t, dim, lines_of(x[0], d), x[0].bytes());
    count_sorted_move(t, dim, lines_of(y[0], d), y[0].bytes());
  }
  void fill(results y, operands x) const {
    const auto elements = static_cast<std::size_t>(x[0].elements());
    std::vector<T> values(elements);
    sorted_exchange way;
    way.sort<T, before<Descending>>(x[0], d, values.data(), true);
    std::vector<std::int32_t> places(elements);
    const index_t inner = x[0].stride(d), n = x[0].local(d), first = x[0].own(d).offset;
    for (std::size_t k = 0; k < elements; ++k)
      places[k] = static_cast<std::int32_t>(first + static_cast<index_t>(k) / inner %
                                                        std::max(n, index_t{1}));
    way.move<false>(places.data(), y[0].data<std::int32_t>());
  }
};

/// Elements that only store are sorted in float, truths as whole numbers.
template <class T>
using sorted_value = std::conditional_t<std::is_same_v<T, bool>, std::int32_t,
                                        std::conditional_t<is_storage_only<T>, computed<T>, T>>;
template <class D, bool Descending, class X> constexpr auto sorted_across(const X& x) {
  using T = value_of<X>;
  if constexpr (!std::is_same_v<T, sorted_value<T>>) {
    return cast<T>(sorted_across<D, Descending>(cast<sorted_value<T>>(x)));
  } else {
    return apply_rule<sorted_across_rule<D>, T>(
        sort_across_op<T, Descending, way_of<X>>{index_of<D, typename spec_of<X>::dims>,
                                                 new_way<way_of<X>>()},
        x);
  }
}
template <class D, bool Descending, class X> constexpr auto places_across(const X& x) {
  using T = value_of<X>;
  if constexpr (!std::is_same_v<T, sorted_value<T>>)
    return places_across<D, Descending>(cast<sorted_value<T>>(x));
  else
    return apply_rule<sorted_across_rule<D>, std::int32_t>(
        argsort_across_op<T, Descending>{index_of<D, typename spec_of<X>::dims>}, x);
}

}  // namespace detail

/// The elements along D in their order over all ranks. Shapes and layout stay: blocks have the
/// lengths that they had. The cotangent of an element goes to where it stood. Communicates where D
/// is split: one or two gathers of about the square root of a block's elements, for each line along
/// D, and an all-to-all in which an element travels if it changes rank. Predicted costs take the
/// order for a random one. On the host. Throws dimesh::error where a block has more elements along
/// D than int32 can number.
template <Dim D, Operand X> constexpr auto sort_all_to_all(const X& x, order o = order::ascending) {
  using fault = detail::fault_of<detail::sorted_across_rule<D>, X>;
  detail::assert_ordered_across<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>) {
    return poison{};
  } else {
    detail::require_few_of_block<D>("sort_all_to_all", x);
    if (o == order::descending)
      return detail::sorted_across<D, true>(x);  // (g++ 12 evaluates no ?: of these)
    return detail::sorted_across<D, false>(x);
  }
}

/// The places along D, over all ranks, of the elements in their order: of the first, the second,
/// ... Shapes and layout stay, int32. Takes no gradient. Communicates as sort_all_to_all, and moves
/// the places likewise. On the host. Throws dimesh::error where D has more elements than int32 can
/// number.
template <Dim D, Operand X>
constexpr auto argsort_all_to_all(const X& x, order o = order::ascending) {
  using fault = detail::fault_of<detail::sorted_across_rule<D>, X>;
  detail::assert_ordered_across<fault, X>();
  if constexpr (!detail::can_be_sorted<fault, X>) {
    return poison{};
  } else {
    detail::require_few_places<D>("argsort_all_to_all", x.template extent<D>());
    if (o == order::descending)
      return detail::places_across<D, true>(x);  // (g++ 12 evaluates no ?: of these)
    return detail::places_across<D, false>(x);
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using sort_all_to_all_call = call_taking<one_dim, 1, a_tensor, order>;
using argsort_all_to_all_call = call_taking<one_dim, 1, a_tensor, order>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::sort_all_to_all_call, detail::list<N...>, A...>
constexpr poison sort_all_to_all(const A&...) {
  static_assert(ok<detail::misuse<detail::sort_all_to_all_call, detail::list<N...>, A...>>,
                "sort_all_to_all: a dim stands in the angle brackets, a tensor in the "
                "parentheses: sort_all_to_all<token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison sort_all_to_all(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "sort_all_to_all: a dim stands in the angle brackets, a tensor in the "
                "parentheses: sort_all_to_all<token>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::argsort_all_to_all_call, detail::list<N...>, A...>
constexpr poison argsort_all_to_all(const A&...) {
  static_assert(ok<detail::misuse<detail::argsort_all_to_all_call, detail::list<N...>, A...>>,
                "argsort_all_to_all: a dim stands in the angle brackets, a tensor in the "
                "parentheses: argsort_all_to_all<token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison argsort_all_to_all(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "argsort_all_to_all: a dim stands in the angle brackets, a tensor in the "
                "parentheses: argsort_all_to_all<token>(x)");
  return {};
}

}  // namespace dimesh

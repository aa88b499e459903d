// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the greatest element over dims that ranks split, where its gradient is wanted? max leaves
// maxima of blocks, and a rank does not know whose is the greatest; these complete them, and find
// out.
//
//   max_all_reduce<hidden>(x[batch/rows, hidden/cols])  -> [batch/rows], on all ranks along cols
//   min_all_reduce(x)                                   -> a tensor without dims
//
// Of equals the first has the gradient, in the order of the elements of the whole: the same one
// under every layout.
#pragma once

#include "dimesh/op/complete.hpp"
#include "dimesh/op/parts/extreme_place.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/stop_gradient.hpp"

namespace dimesh {

namespace detail {

/// Recorded: the gradient's place is wanted, too.
template <use Kind, bool Recorded, class X, class... D>
constexpr auto extreme_completed(std::string_view call, const X& x, list<D...> dims) {
  const auto v = stop_gradient(x);
  const auto found = complete(extreme_list<Kind>(v, dims));
  if constexpr (!Recorded) {
    return found;
  } else {
    using T = value_of<X>;
    const auto place = complete(apply_rule<reduce_rule<use::partial_min, false, D...>, index_t>(
        first_place_op<T>{call}, v, found));
    return complete(apply_rule<reduce_rule<use::partial, false, D...>, T>(
        at_place_op<T, false>{call}, x, place, found));
  }
}
template <use Kind, class X, class... D>
constexpr auto extreme_all_reduce(std::string_view call, const X& x, list<D...> dims) {
  using rule = reduce_rule<Kind, false, D...>;
  if constexpr (!ok<fault_of<rule, X>> || is_poison<X>) {
    return poison{};
  } else if constexpr (!is_tracked<X>) {
    return extreme_completed<Kind, false>(call, x, dims);
  } else if constexpr (is_probe<X>) {
    check<rule>(call, x);
    const table& t = core_of(x).layout();
    const unsigned over = (0u | ... | t.axes_of(index_of<D, typename spec_of<X>::dims>));
    return over != 0 ? extreme_completed<Kind, true>(call, x, dims) : extreme_list<Kind>(x, dims);
  } else if constexpr (gradient_stops<X, list<D...>>::value) {
    return extreme_completed<Kind, true>(call, x, dims);
  } else {
    return extreme_list<Kind>(x, dims);  // a rank has all of it, and its gradient
  }
}

template <class Fault, class X> constexpr void assert_extreme() {
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "max_all_reduce, min_all_reduce: the tensor lacks this dim; name its own dims");
  static_assert(ok<only<Fault, dim_repeated>>,
                "max_all_reduce, min_all_reduce: a dim is named twice; name it once");
  static_assert(ok<only<Fault, partial_operand>>,
                "max_all_reduce, min_all_reduce: the operand is a sum yet to be made, of which "
                "addends say nothing; complete it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "max_all_reduce, min_all_reduce: blocks of this dim carry a halo, which would "
                "count twice; take the tensor without it");
  static_assert(ok<only<Fault, element_is_complex>>,
                "max_all_reduce, min_all_reduce: complex numbers have no order; take real(x) or "
                "norm2(x) first");
  static_assert(!ok<Fault> || has_order<X>,
                "max_all_reduce, min_all_reduce: elements of this type have no order that is "
                "known; cast the tensor first");
}

}  // namespace detail

/// The greatest element over D..., or over all dims where none is named, on all ranks along the
/// axes that split D... Shapes: x without D... One all-reduce of the result where D... are split,
/// as complete(max(x)); of a recorded tensor two more, of its place and of the element there. The
/// gradient goes to the first of equals in the order of the elements of the whole, and nowhere
/// else.
template <Dim... D, Operand X> constexpr auto max_all_reduce(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  detail::assert_extreme<typename detail::over_list_fault<false, X, dims>::type, X>();
  return detail::extreme_all_reduce<use::partial_max>("max_all_reduce", x, dims{});
}
/// The smallest likewise.
template <Dim... D, Operand X> constexpr auto min_all_reduce(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  detail::assert_extreme<typename detail::over_list_fault<false, X, dims>::type, X>();
  return detail::extreme_all_reduce<use::partial_min>("min_all_reduce", x, dims{});
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using max_all_reduce_call = call_taking<any_dims, 1, a_tensor>;
using min_all_reduce_call = call_taking<any_dims, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::max_all_reduce_call, detail::list<N...>, A...>
constexpr poison max_all_reduce(const A&...) {
  static_assert(ok<detail::misuse<detail::max_all_reduce_call, detail::list<N...>, A...>>,
                "max_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: "
                "max_all_reduce<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison max_all_reduce(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "max_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: "
                "max_all_reduce<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::min_all_reduce_call, detail::list<N...>, A...>
constexpr poison min_all_reduce(const A&...) {
  static_assert(ok<detail::misuse<detail::min_all_reduce_call, detail::list<N...>, A...>>,
                "min_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: "
                "min_all_reduce<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison min_all_reduce(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "min_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: "
                "min_all_reduce<batch>(x)");
  return {};
}

}  // namespace dimesh

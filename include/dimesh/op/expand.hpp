// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get a dim along which it says the same everywhere? By copies. Operations repeat
// what lacks a dim anyway; this is for where the copies themselves are wanted. Local.
//
//   expand<head>(x[batch/rows, hidden])              head : dim<4> -> [head, batch/rows, hidden]
//   own<head, cols>(expand<head>(x))                 -> each rank its block of them
//
// The gradient is the sum over the copies.
#pragma once

#include "dimesh/detail/names.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::expand, A...> = true;

/// Copies of elements T along dim `to`, which has `extent` elements.
template <class T> struct copies_op : expand_op<T> {
  const dim_facts* to;
  index_t extent;

  constexpr copies_op(const dim_facts* d, index_t n) : to(d), extent(n) {}
  constexpr index_t extent_of(const dim_facts* d) const {
    return same_dim(d, to) ? extent : dynamic;
  }
};

/// A new dim, which is whole, before the others.
template <class New> struct expand_rule {
  using named = list<New>;
  template <class First> struct dims : concat_impl<list<New>, First> {};
  static constexpr outcome of(rule_operands x, dim_list out) {
    if (x[0].place_of(&facts_of_dim<New>) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &facts_of_dim<New>);
    if (const dim_facts* const haloed = haloed_dim(x[0]))
      return blamed(fault_code::dim_has_halo, haloed);
    return allowed(table_over_dims(x[0].layout, x[0].dims(), out));
  }
};

}  // namespace detail

/// x once for each element of a new dim, the first in storage; its extent is static, or given.
/// Shapes: [..] -> [New, ..]. A linear map, which addends may pass. Local; moves the result's
/// bytes. Throws dimesh::error where the extent is not known.
template <Dim New, Operand X> constexpr auto expand(const X& x, const New& to = {}) {
  using rule = detail::expand_rule<New>;
  using fault = detail::fault_of<rule, X>;
  static_assert(ok<only<fault, dim_already_in_tensor>>,
                "expand: the tensor has the new dim already; choose another name");
  static_assert(ok<only<fault, dim_has_halo>>,
                "expand: the blocks carry halos; expand before halo_exchange");
  if constexpr (!ok<fault> || is_poison<X>) {
    return poison{};
  } else {
    index_t n = 0;
    if constexpr (is_static_dim<New>)
      n = static_extent<New>;
    else
      n = detail::number_in(to);
    if (n < 0)
      throw error("expand: how many elements has dim " + detail::quoted<New>() +
                  "? give its extent: expand<dim>(x, dim{n})");
    return detail::apply_rule<rule, value_of<X>>(
        detail::copies_op<value_of<X>>(&detail::facts_of_dim<New>, n), x);
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using expand_call = call_taking<one_dim, 1, a_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::expand_call, detail::list<N...>, A...>
constexpr poison expand(const A&...) {
  static_assert(ok<detail::misuse<detail::expand_call, detail::list<N...>, A...>>,
                "expand: a new dim stands in the angle brackets, a tensor in the parentheses: "
                "expand<layer>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison expand(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "expand: a new dim stands in the angle brackets, a tensor in the parentheses: "
                "expand<layer>(x)");
  return {};
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/gather.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using gather_call = call_taking<two_dims, 2, a_tensor, a_tensor>;
using scatter_add_call = call_taking<two_dims, 2, a_tensor, a_tensor, no_tensor>;
using bincount_call = call_taking<two_dims, 1, a_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::gather_call, detail::list<N...>, A...>
constexpr poison gather(const A&...) {
  static_assert(ok<detail::misuse<detail::gather_call, detail::list<N...>, A...>>,
                "gather: a dim of the tensor and one of the ids stand in the angle brackets, both"
                " in the parentheses: gather<token, best>(x, ids)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison gather(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "gather: a dim of the tensor and one of the ids stand in the angle brackets, both"
                " in the parentheses: gather<token, best>(x, ids)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::scatter_add_call, detail::list<N...>, A...>
constexpr poison scatter_add(const A&...) {
  static_assert(ok<detail::misuse<detail::scatter_add_call, detail::list<N...>, A...>>,
                "scatter_add: the dim of rows and the new one stand in the angle brackets, rows "
                "and their places in the parentheses: scatter_add<token, vocab>(x, ids)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison scatter_add(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "scatter_add: the dim of rows and the new one stand in the angle brackets, rows "
                "and their places in the parentheses: scatter_add<token, vocab>(x, ids)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::bincount_call, detail::list<N...>, A...>
constexpr poison bincount(const A&...) {
  static_assert(ok<detail::misuse<detail::bincount_call, detail::list<N...>, A...>>,
                "bincount: the dim of places and the new one stand in the angle brackets, a tensor "
                "in the parentheses: bincount<token, vocab>(ids)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison bincount(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "bincount: the dim of places and the new one stand in the angle brackets, a tensor "
                "in the parentheses: bincount<token, vocab>(ids)");
  return {};
}

}  // namespace dimesh

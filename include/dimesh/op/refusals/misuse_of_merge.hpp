// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/merge.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using merge_call = call_taking<more_dims, 1, a_tensor>;
using cut_call = call_taking<more_dims, 1, a_tensor, no_tensors>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::merge_call, detail::list<N...>, A...>
constexpr poison merge(const A&...) {
  static_assert(ok<detail::misuse<detail::merge_call, detail::list<N...>, A...>>,
                "merge: the new dim and those it replaces stand in the angle brackets, a tensor "
                "in the parentheses: merge<flat, batch, token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison merge(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "merge: the new dim and those it replaces stand in the angle brackets, a tensor "
                "in the parentheses: merge<flat, batch, token>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cut_call, detail::list<N...>, A...>
constexpr poison cut(const A&...) {
  static_assert(ok<detail::misuse<detail::cut_call, detail::list<N...>, A...>>,
                "cut: the dim and those it becomes stand in the angle brackets, a tensor in the "
                "parentheses: cut<model, heads, head>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cut(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cut: the dim and those it becomes stand in the angle brackets, a tensor in the "
                "parentheses: cut<model, heads, head>(x)");
  return {};
}

}  // namespace dimesh

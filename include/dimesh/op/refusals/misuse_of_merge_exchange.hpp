// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/merge_exchange.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using merge_exchange_call =
    call_taking<names_taken<2, -1, named_kind::new_dim, named_kind::dim>, 1, a_tensor>;
using cut_exchange_call =
    call_taking<names_taken<2, -1, named_kind::dim, named_kind::new_dim>, 1, a_tensor, no_tensors>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::merge_exchange_call, detail::list<N...>, A...>
constexpr poison merge_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::merge_exchange_call, detail::list<N...>, A...>>,
                "merge_exchange: the new dim and those it replaces stand in the angle brackets, a "
                "tensor in the parentheses: merge_exchange<flat, batch, token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison merge_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "merge_exchange: the new dim and those it replaces stand in the angle brackets, a "
                "tensor in the parentheses: merge_exchange<flat, batch, token>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cut_exchange_call, detail::list<N...>, A...>
constexpr poison cut_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::cut_exchange_call, detail::list<N...>, A...>>,
                "cut_exchange: the dim and those it becomes stand in the angle brackets, a tensor "
                "in the parentheses: cut_exchange<flat, batch, token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cut_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cut_exchange: the dim and those it becomes stand in the angle brackets, a tensor "
                "in the parentheses: cut_exchange<flat, batch, token>(x)");
  return {};
}

}  // namespace dimesh

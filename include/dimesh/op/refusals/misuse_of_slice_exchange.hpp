// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/slice_exchange.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using slice_exchange_call =
    call_taking<one_cut_dim_or_two, 2, a_tensor, index_t, no_tensor, no_tensor>;
using pad_exchange_call =
    call_taking<one_cut_dim_or_two, 2, a_tensor, index_t, no_tensor, no_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::slice_exchange_call, detail::list<N...>, A...>
constexpr poison slice_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::slice_exchange_call, detail::list<N...>, A...>>,
                "slice_exchange: a dim stands in the angle brackets, a tensor and from where to "
                "where in the parentheses: slice_exchange<token>(x, 0, 4)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison slice_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "slice_exchange: a dim stands in the angle brackets, a tensor and from where to "
                "where in the parentheses: slice_exchange<token>(x, 0, 4)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::pad_exchange_call, detail::list<N...>, A...>
constexpr poison pad_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::pad_exchange_call, detail::list<N...>, A...>>,
                "pad_exchange: a dim stands in the angle brackets, a tensor and how many elements "
                "in the parentheses: pad_exchange<token>(x, 1, 1)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison pad_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "pad_exchange: a dim stands in the angle brackets, a tensor and how many elements "
                "in the parentheses: pad_exchange<token>(x, 1, 1)");
  return {};
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/concat.hpp names or arguments of the wrong
// kind, or a list of tensors? One sentence each.
#pragma once

#include <initializer_list>

#include "dimesh/core/operation.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

namespace detail {
using stack_call = call_taking<one_dim, 1, tensors_only>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::stack_call, detail::list<N...>, A...>
constexpr poison stack(const A&...) {
  static_assert(ok<detail::misuse<detail::stack_call, detail::list<N...>, A...>>,
                "stack: a new dim stands in the angle brackets, tensors in the parentheses: "
                "stack<layer>(x, y)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison stack(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "stack: a new dim stands in the angle brackets, tensors in the parentheses: "
                "stack<layer>(x, y)");
  return {};
}

namespace detail {
struct concat_call : call_taking<some_dims, 1, tensors_only> {};
/// As many dims as tensors, and the new one; or one dim.
template <class... N, class... A>
inline constexpr bool is_misused<concat_call, list<N...>, A...> =
    (Operand<A> || ...) && (sizeof...(N) > 0 || is_plain_call<A...>) &&
    !((Operand<A> && ...) && (Dim<N> && ...) && sizeof...(A) <= std::size_t{max_operands} &&
      (sizeof...(N) == 1 || sizeof...(N) == sizeof...(A) + 1));
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::concat_call, detail::list<N...>, A...>
constexpr poison concat(const A&...) {
  static_assert(ok<detail::misuse<detail::concat_call, detail::list<N...>, A...>>,
                "concat: the new dim and those it joins, or one of all, stand in the angle "
                "brackets, tensors in the parentheses: concat<both, left, right>(x, y)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison concat(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "concat: the new dim and those it joins, or one of all, stand in the angle "
                "brackets, tensors in the parentheses: concat<both, left, right>(x, y)");
  return {};
}

namespace detail {
/// What has a run-time number of tensors.
struct range_of_tensors {
  template <class R>
    requires(!Operand<R> && Tensor<typename R::value_type>)
  constexpr range_of_tensors(const R&) {}  // NOLINT: a conversion is meant
};
}  // namespace detail

/// Lists, and what has a run-time number of tensors.
template <class... N> constexpr poison concat(std::initializer_list<detail::any_operand>) {
  static_assert(ok<wrong_arguments<detail::nothing<N...>>>,
                "concat: tensors stand one by one in the parentheses, not in a list: "
                "concat<token>(x, y)");
  return {};
}
template <class... N> constexpr poison concat(detail::range_of_tensors) {
  static_assert(ok<not_a_tensor<detail::nothing<N...>>>,
                "concat: tensors stand one by one in the parentheses, not in a list: "
                "concat<token>(x, y)");
  return {};
}
template <class... N> constexpr poison stack(std::initializer_list<detail::any_operand>) {
  static_assert(ok<wrong_arguments<detail::nothing<N...>>>,
                "stack: tensors stand one by one in the parentheses, not in a list: "
                "stack<layer>(x, y)");
  return {};
}
template <class... N> constexpr poison stack(detail::range_of_tensors) {
  static_assert(ok<not_a_tensor<detail::nothing<N...>>>,
                "stack: tensors stand one by one in the parentheses, not in a list: "
                "stack<layer>(x, y)");
  return {};
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/sort.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

enum class order : unsigned char;  // op/sort.hpp

namespace detail {
using argsort_call = call_taking<one_dim, 1, a_tensor, order>;
using sort_call = call_taking<one_dim, 1, a_tensor, order>;
using top_k_call = call_taking<two_dims, 1, a_tensor, no_tensor>;
using nth_largest_call = call_taking<one_dim, 2, a_tensor, index_t>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::argsort_call, detail::list<N...>, A...>
constexpr poison argsort(const A&...) {
  static_assert(ok<detail::misuse<detail::argsort_call, detail::list<N...>, A...>>,
                "argsort: a dim stands in the angle brackets, a tensor in the parentheses: "
                "argsort<token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison argsort(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "argsort: a dim stands in the angle brackets, a tensor in the parentheses: "
                "argsort<token>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::sort_call, detail::list<N...>, A...>
constexpr poison sort(const A&...) {
  static_assert(ok<detail::misuse<detail::sort_call, detail::list<N...>, A...>>,
                "sort: a dim stands in the angle brackets, a tensor in the parentheses: "
                "sort<token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison sort(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "sort: a dim stands in the angle brackets, a tensor in the parentheses: "
                "sort<token>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::top_k_call, detail::list<N...>, A...>
constexpr poison top_k(const A&...) {
  static_assert(ok<detail::misuse<detail::top_k_call, detail::list<N...>, A...>>,
                "top_k: a dim and a new one stand in the angle brackets, a tensor in the "
                "parentheses: top_k<token, best>(x), best a dim<3>");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison top_k(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "top_k: a dim and a new one stand in the angle brackets, a tensor in the "
                "parentheses: top_k<token, best>(x), best a dim<3>");
  return {};
}
template <class, index_t K, class... A>
  requires detail::has_operand<A...>
constexpr poison top_k(const A&...) {
  static_assert(ok<detail::dim_by_number<K>>,
                "top_k: a dim and a new one stand in the angle brackets, a tensor in the "
                "parentheses: top_k<token, best>(x), best a dim<3>");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::nth_largest_call, detail::list<N...>, A...>
constexpr poison nth_largest(const A&...) {
  static_assert(ok<detail::misuse<detail::nth_largest_call, detail::list<N...>, A...>>,
                "nth_largest: a dim stands in the angle brackets, the tensor and how many are "
                "greater in the parentheses: nth_largest<token>(x, 0)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison nth_largest(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "nth_largest: a dim stands in the angle brackets, the tensor and how many are "
                "greater in the parentheses: nth_largest<token>(x, 0)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::nth_largest_call, detail::list<N...>, A...>
constexpr poison nth_smallest(const A&...) {
  static_assert(ok<detail::misuse<detail::nth_largest_call, detail::list<N...>, A...>>,
                "nth_smallest: a dim stands in the angle brackets, the tensor and how many are "
                "smaller in the parentheses: nth_smallest<token>(x, 0)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison nth_smallest(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "nth_smallest: a dim stands in the angle brackets, the tensor and how many are "
                "smaller in the parentheses: nth_smallest<token>(x, 0)");
  return {};
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/reductions.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using var_call = call_taking<any_dims, 1, a_tensor, index_t>;
using stddev_call = call_taking<any_dims, 1, a_tensor, index_t>;
using prod_call = call_taking<any_dims, 1, a_tensor>;
using prod_all_reduce_call = call_taking<any_dims, 1, a_tensor>;
using compensated_sum_call = call_taking<any_dims, 1, a_tensor>;
using l1_norm_call = call_taking<any_dims, 1, a_tensor>;
using l2_norm_call = call_taking<any_dims, 1, a_tensor>;
using max_norm_call = call_taking<any_dims, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::var_call, detail::list<N...>, A...>
constexpr poison var(const A&...) {
  static_assert(ok<detail::misuse<detail::var_call, detail::list<N...>, A...>>,
                "var: dims stand in the angle brackets, a tensor in the parentheses: "
                "var<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison var(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "var: dims stand in the angle brackets, a tensor in the parentheses: "
                "var<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::stddev_call, detail::list<N...>, A...>
constexpr poison stddev(const A&...) {
  static_assert(ok<detail::misuse<detail::stddev_call, detail::list<N...>, A...>>,
                "stddev: dims stand in the angle brackets, a tensor in the parentheses: "
                "stddev<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison stddev(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "stddev: dims stand in the angle brackets, a tensor in the parentheses: "
                "stddev<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::prod_call, detail::list<N...>, A...>
constexpr poison prod(const A&...) {
  static_assert(ok<detail::misuse<detail::prod_call, detail::list<N...>, A...>>,
                "prod: dims stand in the angle brackets, a tensor in the parentheses: "
                "prod<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison prod(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "prod: dims stand in the angle brackets, a tensor in the parentheses: "
                "prod<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::prod_all_reduce_call, detail::list<N...>, A...>
constexpr poison prod_all_reduce(const A&...) {
  static_assert(ok<detail::misuse<detail::prod_all_reduce_call, detail::list<N...>, A...>>,
                "prod_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: "
                "prod_all_reduce<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison prod_all_reduce(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "prod_all_reduce: dims stand in the angle brackets, a tensor in the parentheses: "
                "prod_all_reduce<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::compensated_sum_call, detail::list<N...>, A...>
constexpr poison compensated_sum(const A&...) {
  static_assert(ok<detail::misuse<detail::compensated_sum_call, detail::list<N...>, A...>>,
                "compensated_sum: dims stand in the angle brackets, a tensor in the parentheses: "
                "compensated_sum<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison compensated_sum(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "compensated_sum: dims stand in the angle brackets, a tensor in the parentheses: "
                "compensated_sum<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::l1_norm_call, detail::list<N...>, A...>
constexpr poison l1_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::l1_norm_call, detail::list<N...>, A...>>,
                "l1_norm: dims stand in the angle brackets, a tensor in the parentheses: "
                "l1_norm<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison l1_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "l1_norm: dims stand in the angle brackets, a tensor in the parentheses: "
                "l1_norm<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::l2_norm_call, detail::list<N...>, A...>
constexpr poison l2_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::l2_norm_call, detail::list<N...>, A...>>,
                "l2_norm: dims stand in the angle brackets, a tensor in the parentheses: "
                "l2_norm<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison l2_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "l2_norm: dims stand in the angle brackets, a tensor in the parentheses: "
                "l2_norm<batch>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::max_norm_call, detail::list<N...>, A...>
constexpr poison max_norm(const A&...) {
  static_assert(ok<detail::misuse<detail::max_norm_call, detail::list<N...>, A...>>,
                "max_norm: dims stand in the angle brackets, a tensor in the parentheses: "
                "max_norm<batch>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison max_norm(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "max_norm: dims stand in the angle brackets, a tensor in the parentheses: "
                "max_norm<batch>(x)");
  return {};
}

}  // namespace dimesh

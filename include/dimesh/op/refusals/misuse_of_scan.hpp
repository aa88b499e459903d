// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/scan.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include "dimesh/op/parts/scan_op.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using cumsum_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cumsum_exscan_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cumprod_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cumprod_exscan_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cummax_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cummax_exscan_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cummin_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using cummin_exscan_call = call_taking<one_dim, 1, a_tensor, scan_options>;
using linear_recurrence_call = call_taking<one_dim, 2, a_tensor, a_tensor, scan_options>;
using linear_recurrence_exscan_call = call_taking<one_dim, 2, a_tensor, a_tensor, scan_options>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::cumsum_call, detail::list<N...>, A...>
constexpr poison cumsum(const A&...) {
  static_assert(ok<detail::misuse<detail::cumsum_call, detail::list<N...>, A...>>,
                "cumsum: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cumsum<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cumsum(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cumsum: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cumsum<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cumsum_exscan_call, detail::list<N...>, A...>
constexpr poison cumsum_exscan(const A&...) {
  static_assert(ok<detail::misuse<detail::cumsum_exscan_call, detail::list<N...>, A...>>,
                "cumsum_exscan: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cumsum_exscan<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cumsum_exscan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cumsum_exscan: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cumsum_exscan<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cumprod_call, detail::list<N...>, A...>
constexpr poison cumprod(const A&...) {
  static_assert(ok<detail::misuse<detail::cumprod_call, detail::list<N...>, A...>>,
                "cumprod: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cumprod<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cumprod(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cumprod: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cumprod<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cumprod_exscan_call, detail::list<N...>, A...>
constexpr poison cumprod_exscan(const A&...) {
  static_assert(ok<detail::misuse<detail::cumprod_exscan_call, detail::list<N...>, A...>>,
                "cumprod_exscan: a dim stands in the angle brackets, a tensor in the parentheses:"
                " cumprod_exscan<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cumprod_exscan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cumprod_exscan: a dim stands in the angle brackets, a tensor in the parentheses:"
                " cumprod_exscan<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cummax_call, detail::list<N...>, A...>
constexpr poison cummax(const A&...) {
  static_assert(ok<detail::misuse<detail::cummax_call, detail::list<N...>, A...>>,
                "cummax: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummax<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cummax(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cummax: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummax<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cummax_exscan_call, detail::list<N...>, A...>
constexpr poison cummax_exscan(const A&...) {
  static_assert(ok<detail::misuse<detail::cummax_exscan_call, detail::list<N...>, A...>>,
                "cummax_exscan: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummax_exscan<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cummax_exscan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cummax_exscan: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummax_exscan<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cummin_call, detail::list<N...>, A...>
constexpr poison cummin(const A&...) {
  static_assert(ok<detail::misuse<detail::cummin_call, detail::list<N...>, A...>>,
                "cummin: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummin<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cummin(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cummin: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummin<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::cummin_exscan_call, detail::list<N...>, A...>
constexpr poison cummin_exscan(const A&...) {
  static_assert(ok<detail::misuse<detail::cummin_exscan_call, detail::list<N...>, A...>>,
                "cummin_exscan: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummin_exscan<time>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison cummin_exscan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "cummin_exscan: a dim stands in the angle brackets, a tensor in the parentheses: "
                "cummin_exscan<time>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::linear_recurrence_call, detail::list<N...>, A...>
constexpr poison linear_recurrence(const A&...) {
  static_assert(ok<detail::misuse<detail::linear_recurrence_call, detail::list<N...>, A...>>,
                "linear_recurrence: a dim stands in the angle brackets, two tensors in the "
                "parentheses: linear_recurrence<time>(a, b)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison linear_recurrence(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "linear_recurrence: a dim stands in the angle brackets, two tensors in the "
                "parentheses: linear_recurrence<time>(a, b)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::linear_recurrence_exscan_call, detail::list<N...>, A...>
constexpr poison linear_recurrence_exscan(const A&...) {
  static_assert(ok<detail::misuse<detail::linear_recurrence_exscan_call, detail::list<N...>, A...>>,
                "linear_recurrence_exscan: a dim stands in the angle brackets, two tensors in the"
                " parentheses: linear_recurrence_exscan<time>(a, b)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison linear_recurrence_exscan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "linear_recurrence_exscan: a dim stands in the angle brackets, two tensors in the"
                " parentheses: linear_recurrence_exscan<time>(a, b)");
  return {};
}

namespace detail {
using scan_call = call_taking<one_dim, 3, no_tensor, double, a_tensor, scan_options>;
using scan_exscan_call = call_taking<one_dim, 3, no_tensor, double, a_tensor, scan_options>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::scan_call, detail::list<N...>, A...>
constexpr poison scan(const A&...) {
  static_assert(ok<detail::misuse<detail::scan_call, detail::list<N...>, A...>>,
                "scan: a dim stands in the angle brackets, a function, its first value and a "
                "tensor in the parentheses: scan<token>(f, 0, x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison scan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "scan: a dim stands in the angle brackets, a function, its first value and a "
                "tensor in the parentheses: scan<token>(f, 0, x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::scan_exscan_call, detail::list<N...>, A...>
constexpr poison scan_exscan(const A&...) {
  static_assert(ok<detail::misuse<detail::scan_exscan_call, detail::list<N...>, A...>>,
                "scan_exscan: a dim stands in the angle brackets, a function, its first value and "
                "a tensor in the parentheses: scan_exscan<token>(f, 0, x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison scan_exscan(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "scan_exscan: a dim stands in the angle brackets, a function, its first value and "
                "a tensor in the parentheses: scan_exscan<token>(f, 0, x)");
  return {};
}

}  // namespace dimesh

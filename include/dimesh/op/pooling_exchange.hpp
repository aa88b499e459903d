// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the greatest element of each window, or the mean, where windows move along a dim that is
// split? Each rank joins the windows of its block of results; the elements of others that they see
// come in one exchange. Windows that lie on one rank each (side by side, in blocks that they fill)
// send nothing.
//
//   max_pool_exchange(x[batch, height/rows, in], pool_window<height, high>{.size = 3, .stride = 2})
//     -> [batch, high/rows, in]
#pragma once

#include "dimesh/op/halo_way.hpp"
#include "dimesh/op/pooling.hpp"

namespace dimesh {

namespace detail {

template <class Fault> constexpr void assert_split_pool() {
  static_assert(ok<only_not_divisible<Fault>>,
                "max_pool_exchange, mean_pool_exchange: results along this dim do not divide over "
                "the ranks of the dim that they come from; split that as uneven<dim>");
}

}  // namespace detail

/// max_pool whose windows may move along dims that are split; the result's dims lie on the axes of
/// those they come from, in blocks of the same kind (uneven where those are ragged and the dim is a
/// new one). Communicates: a rank gets the elements that its windows see and others hold; gradients
/// go the way back.
template <Operand X, Dim... From, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto max_pool_exchange(const X& x, const pool_window<From, To>&... windows) {
  using rule = detail::pool_rule<true, false, pool_window<From, To>...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_split_pool<fault>();
  detail::assert_pool<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pooled<detail::max_pool_op, rule>({"max_pool_exchange"}, x, windows...);
}
/// The same; what sees nothing of other ranks is computed while messages travel, not in gradients.
template <Operand X, Dim... From, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto max_pool_exchange(beside_interior_way, const X& x,
                                 const pool_window<From, To>&... windows) {
  using rule = detail::pool_rule<true, false, pool_window<From, To>...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_split_pool<fault>();
  detail::assert_pool<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pooled<detail::max_pool_op, rule>({"max_pool_exchange", true}, x, windows...);
}

/// mean_pool whose windows may move along dims that are split: layouts and messages as of
/// max_pool_exchange.
template <Operand X, Dim... From, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto mean_pool_exchange(const X& x, const pool_window<From, To>&... windows) {
  using rule = detail::pool_rule<true, true, pool_window<From, To>...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_split_pool<fault>();
  detail::assert_pool<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pooled<detail::mean_pool_forward, rule>({"mean_pool_exchange"}, x, windows...);
}
/// The same; what sees nothing of other ranks is computed while messages travel, not in gradients.
template <Operand X, Dim... From, Dim... To>
  requires(sizeof...(From) >= 1 && sizeof...(From) <= local::convolution::max_windows)
constexpr auto mean_pool_exchange(beside_interior_way, const X& x,
                                  const pool_window<From, To>&... windows) {
  using rule = detail::pool_rule<true, true, pool_window<From, To>...>;
  using fault = detail::fault_of<rule, X>;
  detail::assert_split_pool<fault>();
  detail::assert_pool<fault>();
  if constexpr (!ok<fault> || is_poison<X>)
    return poison{};
  else
    return detail::pooled<detail::mean_pool_forward, rule>({"mean_pool_exchange", true}, x,
                                                           windows...);
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

template <Operand X, class... W>
  requires(sizeof...(W) > 0 && (detail::is_filter_window<W> && ...))
constexpr poison max_pool_exchange(const X&, const W&...) {
  return detail::refuse_filter_windows<W...>();
}
template <class... N, class... A>
  requires detail::is_misused<detail::pool_call, detail::list<N...>, A...>
constexpr poison max_pool_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::pool_call, detail::list<N...>, A...>>,
                "max_pool_exchange: a tensor and windows stand in the parentheses, and nothing in "
                "angle brackets: max_pool_exchange(x, pool_window<height>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison max_pool_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "max_pool_exchange: a tensor and windows stand in the parentheses, and nothing in "
                "angle brackets: max_pool_exchange(x, pool_window<height>{})");
  return {};
}

template <Operand X, class... W>
  requires(sizeof...(W) > 0 && (detail::is_filter_window<W> && ...))
constexpr poison mean_pool_exchange(const X&, const W&...) {
  return detail::refuse_filter_windows<W...>();
}
template <class... N, class... A>
  requires detail::is_misused<detail::pool_call, detail::list<N...>, A...>
constexpr poison mean_pool_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::pool_call, detail::list<N...>, A...>>,
                "mean_pool_exchange: a tensor and windows stand in the parentheses, and nothing in "
                "angle brackets: mean_pool_exchange(x, pool_window<height>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison mean_pool_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "mean_pool_exchange: a tensor and windows stand in the parentheses, and nothing in "
                "angle brackets: mean_pool_exchange(x, pool_window<height>{})");
  return {};
}

}  // namespace dimesh

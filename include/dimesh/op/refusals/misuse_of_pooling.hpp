// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/pooling.hpp, or of
// op/pooling_exchange.hpp, names or arguments of the wrong kind? One sentence each.
#pragma once

#include "dimesh/op/halo_way.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

template <Dim From, Dim To> struct pool_window;
template <Dim From, Dim Tap, Dim To> struct window;

namespace detail {
template <class W> inline constexpr bool is_filter_window = false;
template <Dim From, Dim Tap, Dim To>
inline constexpr bool is_filter_window<dimesh::window<From, Tap, To>> = true;
template <Dim From, Dim Tap, Dim To>
inline constexpr bool is_call_part<dimesh::window<From, Tap, To>> = true;
template <Dim From, Dim To>
inline constexpr bool is_call_part<dimesh::pool_window<From, To>> = true;
template <> inline constexpr bool is_call_part<halo_way> = true;
template <> inline constexpr bool is_call_part<beside_interior_way> = true;
/// The windows of a convolution have taps, and those of a pool a size.
template <class... W> constexpr poison refuse_filter_windows() {
  static_assert(ok<wrong_arguments<W...>>,
                "pooling: its windows have no taps: max_pool(x, pool_window<height, high>{.size = "
                "2, .stride = 2})");
  return {};
}
struct pool_windows;  // and all that follow
template <class From, class To> void as_pool_window(const dimesh::pool_window<From, To>&);
template <class A>
inline constexpr bool is_taken<pool_windows, A> = requires(const A& a) { as_pool_window(a); };
template <> inline constexpr bool goes_on<pool_windows> = true;
using pool_call = call_taking<names_taken<0, 0, named_kind::dim>, 2, a_tensor, pool_windows>;
}  // namespace detail

template <Operand X, class... W>
  requires(sizeof...(W) > 0 && (detail::is_filter_window<W> && ...))
constexpr poison max_pool(const X&, const W&...) {
  return detail::refuse_filter_windows<W...>();
}
template <class... N, class... A>
  requires detail::is_misused<detail::pool_call, detail::list<N...>, A...>
constexpr poison max_pool(const A&...) {
  static_assert(ok<detail::misuse<detail::pool_call, detail::list<N...>, A...>>,
                "max_pool: a tensor and windows stand in the parentheses, and nothing in angle "
                "brackets: max_pool(x, pool_window<height>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison max_pool(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "max_pool: a tensor and windows stand in the parentheses, and nothing in angle "
                "brackets: max_pool(x, pool_window<height>{})");
  return {};
}

template <Operand X, class... W>
  requires(sizeof...(W) > 0 && (detail::is_filter_window<W> && ...))
constexpr poison mean_pool(const X&, const W&...) {
  return detail::refuse_filter_windows<W...>();
}
template <class... N, class... A>
  requires detail::is_misused<detail::pool_call, detail::list<N...>, A...>
constexpr poison mean_pool(const A&...) {
  static_assert(ok<detail::misuse<detail::pool_call, detail::list<N...>, A...>>,
                "mean_pool: a tensor and windows stand in the parentheses, and nothing in angle "
                "brackets: mean_pool(x, pool_window<height>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison mean_pool(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "mean_pool: a tensor and windows stand in the parentheses, and nothing in angle "
                "brackets: mean_pool(x, pool_window<height>{})");
  return {};
}

}  // namespace dimesh

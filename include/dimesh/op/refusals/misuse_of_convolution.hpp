// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/convolution.hpp, or of
// op/convolution_exchange.hpp, names or arguments of the wrong kind? One sentence each.
#pragma once

#include "dimesh/op/parts/window.hpp"
#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
struct windows;  // of a filter, and all that follow
template <class From, class Tap, class To> void as_window(const dimesh::window<From, Tap, To>&);
template <class A>  // one, or what a struct of the user's derives from one
inline constexpr bool is_taken<windows, A> = requires(const A& a) { as_window(a); };
template <> inline constexpr bool goes_on<windows> = true;
using convolution_call = call_taking<any_dims, 3, a_tensor, a_tensor, windows>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::convolution_call, detail::list<N...>, A...>
constexpr poison convolution(const A&...) {
  static_assert(ok<detail::misuse<detail::convolution_call, detail::list<N...>, A...>>,
                "convolution: dims of the result stand in the angle brackets, tensor, filter and "
                "windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison convolution(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "convolution: dims of the result stand in the angle brackets, tensor, filter and "
                "windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::convolution_call, detail::list<N...>, A...>
constexpr poison transposed_convolution(const A&...) {
  static_assert(ok<detail::misuse<detail::convolution_call, detail::list<N...>, A...>>,
                "transposed_convolution: dims of the result stand in the angle brackets, tensor, "
                "filter and windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison transposed_convolution(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "transposed_convolution: dims of the result stand in the angle brackets, tensor, "
                "filter and windows in the parentheses: (x, w, window<d, tap>{})");
  return {};
}

}  // namespace dimesh

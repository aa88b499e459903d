// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one tensor become several along a dim that ranks split? As split_into does where it is
// whole: every part is cut over the same axes, and an element travels if its new place is on
// another rank. What concat_exchange puts together again.
//
//   auto [a, b] = split_into_exchange<both, left, right>(x[both/rows])  [left/rows], [right/rows]
//   split_into_exchange<uneven<length>>(x[length/rows], 2, 5)     length : dim<> -> 2 and 5 of them
//
// uneven<Part>: blocks of ceil(n/p). A message for each part and pair of ranks that have something
// for one another. The gradient of each part is one of the whole dim with zeros beside it.
#pragma once

#include "dimesh/op/slice_exchange.hpp"
#include "dimesh/op/split_into.hpp"

namespace dimesh {

namespace detail {

template <class X, class D, class... Part>
using exchanged_parts_fault =
    typename first_of<fault_of<strided_exchange_rule<D, Part>, X>...>::type;
/// Elements of dim D from `at` on, under the name of Part; the next ones begin behind them.
template <class D, class Part, class X>
constexpr auto exchanged_part(const X& x, index_t& at, index_t n) {
  at += n;
  return exchange_strided<D, Part>("split_into_exchange", x, {at - n, 1, 0, 1, n}, n);
}
template <class D, class... Part, class X>
constexpr auto exchanged_parts(const X& x, const plain_dim<Part>&... part) {
  if constexpr (!ok<exchanged_parts_fault<X, D, Part...>> || is_poison<X>) {
    return std::tuple<std::conditional_t<(sizeof...(Part) > 0), poison, Part>...>{};
  } else {
    require_parts<D>("split_into_exchange", x, (index_t{0} + ... + extent_given(part)));
    index_t at = 0;
    return std::tuple{exchanged_part<D, Part>(x, at, extent_given(part))...};  // left to right
  }
}

}  // namespace detail

/// x cut along D into parts whose dims are Part..., one behind the other, which may be written
/// uneven<Part>. Shapes: [.., D, ..] -> a std::tuple of [.., Part, ..], cut over the same axes.
/// Extents are static or given: split_into_exchange<D, uneven<a>, b>(x, a{2}, b{4}). Throws
/// dimesh::error where they are not D's together, or axes do not divide theirs.
template <Dim D, class... Part, Operand X>
  requires(sizeof...(Part) > 0 && (Dim<detail::plain_dim<Part>> && ...))
[[nodiscard]] constexpr auto split_into_exchange(const X& x) {
  detail::assert_exchanged<detail::exchanged_parts_fault<X, D, Part...>>();
  return detail::exchanged_parts<D, Part...>(x, detail::plain_dim<Part>{}...);
}
template <Dim D, class... Part, Operand X, Dim... E>
  requires(sizeof...(E) > 0 &&
           std::is_same_v<detail::list<E...>, detail::list<detail::plain_dim<Part>...>>)
[[nodiscard]] constexpr auto split_into_exchange(const X& x, const E&... part) {
  detail::assert_exchanged<detail::exchanged_parts_fault<X, D, Part...>>();
  return detail::exchanged_parts<D, Part...>(x, part...);
}
/// x cut along D, whose extent is given at run time, and which may be written uneven<D>, into parts
/// of so many elements. Shapes: a std::array of tensors like x, cut over the same axes. Throws
/// dimesh::error where they are not D's together, or axes do not divide a number of elements.
template <class D, Operand X, class... N>
  requires(Dim<detail::plain_dim<D>> && sizeof...(N) > 0 && (std::is_integral_v<N> && ...))
[[nodiscard]] constexpr auto split_into_exchange(const X& x, N... count) {
  using fault = detail::open_exchange_fault<D, X>;
  using dim = detail::plain_dim<D>;
  detail::assert_exchanged<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return std::array<poison, sizeof...(N)>{};
  } else {
    detail::require_parts<dim>("split_into_exchange", x,
                               (index_t{0} + ... + static_cast<index_t>(count)));
    index_t at = 0;
    return std::array{detail::exchanged_part<dim, D>(x, at, static_cast<index_t>(count))...};
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using split_into_exchange_call = call_taking<some_cut_dims, 1, a_tensor, no_tensors>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::split_into_exchange_call, detail::list<N...>, A...>
constexpr poison split_into_exchange(const A&...) {
  static_assert(ok<detail::misuse<detail::split_into_exchange_call, detail::list<N...>, A...>>,
                "split_into_exchange: the dim and its parts stand in the angle brackets, a tensor "
                "in the parentheses: split_into_exchange<both, left, right>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison split_into_exchange(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "split_into_exchange: the dim and its parts stand in the angle brackets, a tensor "
                "in the parentheses: split_into_exchange<both, left, right>(x)");
  return {};
}

}  // namespace dimesh

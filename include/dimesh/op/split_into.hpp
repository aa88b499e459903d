// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one tensor become several? Cut along a dim that is whole, or one tensor for each of its
// elements: what concat and stack undo. (`split` is a rule of layouts: it cuts dims over ranks.)
//
//   auto [a, b] = split_into<both, left, right>(x)    [.., both] -> [.., left], [.., right]
//   auto [a, b] = split_into<length>(x, 2, 5)         length : dim<> -> its first 2, its last 5
//   unstack<layer>(x)                                 layer : dim<3> -> std::array of 3 tensors
//
// Along a dim that ranks split: split_into_exchange.hpp; to unstack it all ranks need all of it.
// Local copies: slices and picks. The gradient of each part is one of the whole dim with zeros
// beside it, so that the way back moves the whole once for each part that is used.
#pragma once

#include <array>
#include <tuple>
#include <vector>

#include "dimesh/op/refusals/missing_header.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/slice.hpp"

namespace dimesh {

namespace detail {

template <class... A> inline constexpr bool is_included<op_header::split_into, A...> = true;

template <class Fault> constexpr void assert_taken_apart() {
  static_assert(ok<only<Fault, extent_is_static>>,
                "split_into: the dim's extent is part of its type; name the dims of the parts: "
                "split_into<both, left, right>(x)");
  static_assert(ok<only<Fault, dim_not_in_tensor>>,
                "split_into, unstack: the tensor lacks the dim to be cut; name one of its dims");
  static_assert(ok<only<Fault, dim_already_in_tensor>>,
                "split_into: the tensor has a dim of a part's name already; choose another name");
  static_assert(
      ok<only<Fault, dim_is_split>>,
      "split_into, unstack: needs the whole dim, and it is split; take split_into_exchange, "
      "or whole<dim> it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "split_into, unstack: the blocks of the dim carry halos; cut it before "
                "halo_exchange");
}

template <class D, class X>
constexpr void require_parts(std::string_view call, const X& x, index_t together) {
  if (!has_assumed_extents(x) && together != x.template extent<D>())
    (words() << call << ": the parts have " << together << " elements together, and dim '"
             << name_of<D>() << "' has " << x.template extent<D>())
        .raise();
}
/// Part of dim D, which begins at `at`; the next one behind it.
template <class D, class Part, class X>
constexpr auto split_part(const X& x, index_t& at, const Part& part) {
  const index_t n = extent_given(part), begin = at;
  at += n;
  return apply_strided<D, Part>("split_into", x, {begin, 1, 0, 1, n}, n);
}
template <class X, class D, class... Part>
using parts_fault = typename first_of<fault_of<strided_rule<D, Part>, X>...>::type;
template <class D, class... Part, class X>
constexpr auto parts_of(const X& x, const Part&... part) {
  if constexpr (!ok<parts_fault<X, D, Part...>> || is_poison<X>) {
    return std::tuple<std::conditional_t<(sizeof(Part) > 0), poison, Part>...>{};
  } else {
    require_parts<D>("split_into", x, (index_t{0} + ... + extent_given(part)));
    index_t at = 0;
    return std::tuple{split_part<D, Part>(x, at, part)...};  // from left to right
  }
}
template <class D, class X, std::size_t... K>
constexpr auto picks_of(const X& x, std::index_sequence<K...>) {
  return std::array{dimesh::pick<D>(x, static_cast<index_t>(K))...};
}

}  // namespace detail

/// x cut along D into parts whose dims are Part..., one behind the other. Shapes: [.., D, ..] ->
/// a std::tuple of [.., Part, ..]. Extents are static or given: split_into<D>(x, a{2}, b{5}).
/// Local. Throws dimesh::error where they are not D's together.
template <Dim D, Dim... Part, Operand X>
  requires(sizeof...(Part) > 0)
[[nodiscard]] constexpr auto split_into(const X& x, const Part&... part) {
  detail::assert_taken_apart<detail::parts_fault<X, D, Part...>>();
  return detail::parts_of<D, Part...>(x, part...);
}
template <Dim D, Dim... Part, Operand X>
  requires(sizeof...(Part) > 0)
[[nodiscard]] constexpr auto split_into(const X& x) {
  detail::assert_taken_apart<detail::parts_fault<X, D, Part...>>();
  return detail::parts_of<D, Part...>(x, Part{}...);
}
/// x cut along D, whose extent is given at run time, into parts of so many elements. Shapes: a
/// std::array of tensors like x. Local. Throws dimesh::error where they are not D's together.
template <Dim D, Operand X, class... N>
  requires(sizeof...(N) > 0 && (std::is_integral_v<N> && ...))
[[nodiscard]] constexpr auto split_into(const X& x, N... count) {
  using fault = detail::open_dim_fault<D, detail::fault_of<detail::strided_rule<D, D>, X>>;
  detail::assert_taken_apart<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return std::array<poison, sizeof...(N)>{};
  } else {
    detail::require_parts<D>("split_into", x, (index_t{0} + ... + static_cast<index_t>(count)));
    index_t at = 0;
    const auto next = [&x, &at](index_t n) {
      at += n;
      return detail::apply_strided<D, D>("split_into", x, {at - n, 1, 0, 1, n}, n);
    };
    return std::array{next(static_cast<index_t>(count))...};
  }
}

/// What x is at each element of D. Shapes: [.., D, ..] -> as many tensors without D: a std::array
/// where D's extent is static, else a std::vector. Local.
template <Dim D, Operand X> [[nodiscard]] constexpr auto unstack(const X& x) {
  using fault = detail::fault_of<detail::pick_rule<D>, X>;
  detail::assert_taken_apart<fault>();
  if constexpr (!ok<fault> || is_poison<X>) {
    return std::array<poison, 1>{};
  } else if constexpr (is_static_dim<D>) {
    return detail::picks_of<D>(
        x, std::make_index_sequence<static_cast<std::size_t>(static_extent<D>)>{});
  } else {
    const index_t n = x.template extent<D>();
    std::vector<decltype(dimesh::pick<D>(x, 0))> all;
    all.reserve(static_cast<std::size_t>(n));
    for (index_t k = 0; k < n; ++k) all.push_back(dimesh::pick<D>(x, k));
    return all;
  }
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using unstack_call = call_taking<one_dim, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::unstack_call, detail::list<N...>, A...>
constexpr poison unstack(const A&...) {
  static_assert(ok<detail::misuse<detail::unstack_call, detail::list<N...>, A...>>,
                "unstack: a dim stands in the angle brackets, a tensor in the parentheses: "
                "unstack<layer>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison unstack(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "unstack: a dim stands in the angle brackets, a tensor in the parentheses: "
                "unstack<layer>(x)");
  return {};
}

namespace detail {
using split_into_call = call_taking<some_dims, 1, a_tensor, no_tensors>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::split_into_call, detail::list<N...>, A...>
constexpr poison split_into(const A&...) {
  static_assert(ok<detail::misuse<detail::split_into_call, detail::list<N...>, A...>>,
                "split_into: the dim and its parts stand in the angle brackets, a tensor in the "
                "parentheses: split_into<both, left, right>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison split_into(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "split_into: the dim and its parts stand in the angle brackets, a tensor in the "
                "parentheses: split_into<both, left, right>(x)");
  return {};
}

}  // namespace dimesh

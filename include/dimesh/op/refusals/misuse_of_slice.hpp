// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the operations of op/slice.hpp names or arguments of the
// wrong kind? One sentence each.
#pragma once

#include <initializer_list>

#include "dimesh/op/refusals/misuse.hpp"

namespace dimesh {

namespace detail {
using slice_call = call_taking<one_dim_or_two, 2, a_tensor, index_t, no_tensor, no_tensor>;
using pad_call = call_taking<one_dim_or_two, 2, a_tensor, index_t, no_tensor, no_tensor>;
using flip_call = call_taking<one_dim, 1, a_tensor>;
using pick_call = call_taking<one_dim, 2, a_tensor, index_t>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::slice_call, detail::list<N...>, A...>
constexpr poison slice(const A&...) {
  static_assert(ok<detail::misuse<detail::slice_call, detail::list<N...>, A...>>,
                "slice: a dim stands in the angle brackets, a tensor and from where to where in "
                "the parentheses: slice<token>(x, 0, 4)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison slice(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "slice: a dim stands in the angle brackets, a tensor and from where to where in "
                "the parentheses: slice<token>(x, 0, 4)");
  return {};
}

template <class... N, Operand X> constexpr poison slice(const X&, std::initializer_list<index_t>) {
  static_assert(ok<wrong_arguments<X, std::initializer_list<index_t>>>,
                "slice: a dim stands in the angle brackets, a tensor and from where to where in "
                "the parentheses: slice<token>(x, 0, 4)");
  return {};
}
template <class... N, Operand X> constexpr poison pad(const X&, std::initializer_list<index_t>) {
  static_assert(ok<wrong_arguments<X, std::initializer_list<index_t>>>,
                "pad: a dim stands in the angle brackets, a tensor and how many elements in the "
                "parentheses: pad<token>(x, 1, 1)");
  return {};
}

// An end beside a dim that says how many elements there are.
template <Dim From, Dim To, Operand X> constexpr poison slice(const X&, index_t, index_t) {
  static_assert(ok<wrong_arguments<X, index_t, index_t>>,
                "slice: as many elements as the second dim has are taken from where it begins: "
                "slice<token, part>(x, 2); with a step, slice<token, part>(x, 2, 3, part{})");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::pad_call, detail::list<N...>, A...>
constexpr poison pad(const A&...) {
  static_assert(ok<detail::misuse<detail::pad_call, detail::list<N...>, A...>>,
                "pad: a dim stands in the angle brackets, a tensor and how many elements in the "
                "parentheses: pad<token>(x, 1, 1)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison pad(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "pad: a dim stands in the angle brackets, a tensor and how many elements in the "
                "parentheses: pad<token>(x, 1, 1)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::flip_call, detail::list<N...>, A...>
constexpr poison flip(const A&...) {
  static_assert(ok<detail::misuse<detail::flip_call, detail::list<N...>, A...>>,
                "flip: a dim stands in the angle brackets, a tensor in the parentheses: "
                "flip<token>(x)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison flip(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "flip: a dim stands in the angle brackets, a tensor in the parentheses: "
                "flip<token>(x)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::pick_call, detail::list<N...>, A...>
constexpr poison pick(const A&...) {
  static_assert(ok<detail::misuse<detail::pick_call, detail::list<N...>, A...>>,
                "pick: a dim stands in the angle brackets, a tensor and the place in the "
                "parentheses: pick<token>(x, 3)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison pick(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "pick: a dim stands in the angle brackets, a tensor and the place in the "
                "parentheses: pick<token>(x, 3)");
  return {};
}

}  // namespace dimesh

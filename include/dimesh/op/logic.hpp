// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from comparisons? Truths are joined, and asked whether any or all hold; numbers are
// kept within bounds.
//
//   logical_and(x > 0, y > 0)                 -> tensor of bool
//   any<hidden>(x[batch, hidden/cols] > 9)    -> bool [batch], partial_max over cols: complete it
//   clamp(x, -1.0, 1.0)                       -> like x
#pragma once

#include "dimesh/detail/number_given.hpp"
#include "dimesh/op/compare.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/refusals/misuse.hpp"
#include "dimesh/op/refusals/unnamed_dims.hpp"

namespace dimesh {

namespace detail {

struct logical_and_function {
  static constexpr std::string_view call = "logical_and";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return static_cast<bool>(a) & static_cast<bool>(b);
  }
};
struct logical_or_function {
  static constexpr std::string_view call = "logical_or";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return static_cast<bool>(a) | static_cast<bool>(b);
  }
};
struct logical_xor_function {
  static constexpr std::string_view call = "logical_xor";
  template <class A, class B> KOKKOS_INLINE_FUNCTION bool operator()(const A& a, const B& b) const {
    return static_cast<bool>(a) != static_cast<bool>(b);
  }
};
struct logical_not_function {
  static constexpr std::string_view call = "logical_not";
  template <class A> KOKKOS_INLINE_FUNCTION bool operator()(const A& a) const {
    return !static_cast<bool>(a);
  }
};
template <class T> struct clamp_function {
  static constexpr std::string_view call = "clamp";
  T low, high;
  template <class A> KOKKOS_INLINE_FUNCTION auto operator()(const A& a) const {
    return dimesh::select(a < low, low, dimesh::select(a > high, high, a));
  }
};

template <class X> inline constexpr bool holds_truths = true;
template <class X>
  requires(!is_poison<X>)
inline constexpr bool holds_truths<X> = std::is_same_v<value_of<X>, bool>;

template <class Fault, class X> constexpr void assert_truths() {
  static_assert(ok<only<Fault, dim_not_in_tensor, dim_repeated>>,
                "any, all: the tensor lacks this dim, or it is named twice; name its own dims, "
                "each once");
  static_assert(ok<only<Fault, partial_operand>>,
                "any, all: the operand is yet to be joined over the ranks; complete it first");
  static_assert(ok<only<Fault, dim_has_halo>>,
                "any, all: blocks of this dim carry a halo; take the tensor without it");
  static_assert(holds_truths<X>, "any, all: elements are truths; compare first: any<dim>(x != 0)");
}

}  // namespace detail

/// Both hold, element by element. Elements are bool, or numbers that hold where they are not 0.
/// Shapes as in map.
template <Operand X, Operand Y> constexpr auto logical_and(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, Y>>,
                "logical_and, logical_or, logical_xor: the operands do not fit; complete what is "
                "partial, relayout what is split differently");
  return detail::map_as<detail::join_kind::nonlinear>(detail::logical_and_function{}, x, y);
}
/// One holds, or both.
template <Operand X, Operand Y> constexpr auto logical_or(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, Y>>,
                "logical_and, logical_or, logical_xor: the operands do not fit; complete what is "
                "partial, relayout what is split differently");
  return detail::map_as<detail::join_kind::nonlinear>(detail::logical_or_function{}, x, y);
}
/// One holds, and not both.
template <Operand X, Operand Y> constexpr auto logical_xor(const X& x, const Y& y) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X, Y>>,
                "logical_and, logical_or, logical_xor: the operands do not fit; complete what is "
                "partial, relayout what is split differently");
  return detail::map_as<detail::join_kind::nonlinear>(detail::logical_xor_function{}, x, y);
}
/// It does not hold.
template <Operand X> constexpr auto logical_not(const X& x) {
  static_assert(ok<detail::map_fault<detail::join_kind::nonlinear, X>>,
                "logical_not: the operand is yet to be joined over the ranks; complete it first");
  return detail::map_as<detail::join_kind::nonlinear>(detail::logical_not_function{}, x);
}

/// x, but low where it is less and high where it is more; NaN stays. The derivative is 1 from low
/// to high, both included, and 0 outside. Throws dimesh::error for a bound that would be an element
/// and that whole elements do not hold, and unless low <= high, as elements.
template <Operand X, detail::Number N, detail::Number M>
constexpr auto clamp(const X& x, N low, M high) {
  static_assert(
      ok<detail::map_fault<detail::join_kind::real, X>>,
      "clamp: the operand is a sum yet to be made, or complex; complete it, or take its real part");
  using T = detail::element_as<X, std::common_type_t<N, M>>;
  const detail::clamp_function<T> f{detail::as_least<T>("clamp", low),
                                    detail::as_most<T>("clamp", high)};
  if constexpr (std::is_constructible_v<double, T>)  // as elements: 0.1f and 0.1 may be one
    detail::require_ordered("clamp", "bounds", static_cast<double>(f.low),
                            static_cast<double>(f.high));
  return detail::map_as<detail::join_kind::real>(f, x);
}

/// Both bounds are given, as numbers. (Functions of the user's that have this name fit better.)
template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison clamp(detail::any_operand, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "clamp: takes a tensor and two numbers, the least and the greatest: clamp(x, 0, "
                "1); with one bound they are maximum(x, 0), minimum(x, 1)");
  return {};
}

/// Does any hold over D..., or over all dims where none is named? Shapes: bool, x without D...;
/// false over nothing. Local: partial_max along the axes that split D..., which only `complete`
/// accepts.
template <Dim... D, Operand X> constexpr auto any(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  detail::assert_truths<typename detail::over_list_fault<false, X, dims>::type, X>();
  if constexpr (!detail::holds_truths<X>)
    return poison{};
  else
    return detail::extreme_list<use::partial_max>(x, dims{});
}
/// Do all hold? True over nothing; partial_min where any is partial_max.
template <Dim... D, Operand X> constexpr auto all(const X& x) {
  using dims = typename detail::dims_or_all<X, detail::list<D...>>::type;
  detail::assert_truths<typename detail::over_list_fault<false, X, dims>::type, X>();
  if constexpr (!detail::holds_truths<X>)
    return poison{};
  else
    return detail::extreme_list<use::partial_min>(x, dims{});
}

// ---- names and arguments of the wrong kind ------------------------------------------------------

namespace detail {
using any_call = call_taking<any_dims, 1, a_tensor>;
using all_call = call_taking<any_dims, 1, a_tensor>;
}  // namespace detail

template <class... N, class... A>
  requires detail::is_misused<detail::any_call, detail::list<N...>, A...>
constexpr poison any(const A&...) {
  static_assert(ok<detail::misuse<detail::any_call, detail::list<N...>, A...>>,
                "any: dims stand in the angle brackets, a tensor of bool in the parentheses: "
                "any<batch>(x > 0)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison any(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "any: dims stand in the angle brackets, a tensor of bool in the parentheses: "
                "any<batch>(x > 0)");
  return {};
}

template <class... N, class... A>
  requires detail::is_misused<detail::all_call, detail::list<N...>, A...>
constexpr poison all(const A&...) {
  static_assert(ok<detail::misuse<detail::all_call, detail::list<N...>, A...>>,
                "all: dims stand in the angle brackets, a tensor of bool in the parentheses: "
                "all<batch>(x > 0)");
  return {};
}
template <index_t First, index_t... More, class... A>
  requires detail::has_operand<A...>
constexpr poison all(const A&...) {
  static_assert(ok<detail::dim_by_number<First, More...>>,
                "all: dims stand in the angle brackets, a tensor of bool in the parentheses: "
                "all<batch>(x > 0)");
  return {};
}

}  // namespace dimesh

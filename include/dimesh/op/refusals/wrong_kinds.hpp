// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who names an axis where a dim is wanted, or puts a dim among the tensors? One
// sentence: for each operation an overload that takes what is of the wrong kind, and nothing else.
//
//   sum<rows>(x)         -> not_a_dim<rows>: sum: dims stand in the angle brackets ...
//   sum(x, batch{})      -> not_a_tensor<batch>
//   einsum("ij,jk", x, w)  -> not_a_tensor<char[6]>
#pragma once

#include "dimesh/op/parts/name_kinds.hpp"

namespace dimesh {

namespace detail {

/// The same of a call that takes several tensors.
template <class Kinds> struct many : Kinds {
  static constexpr bool one = false;
};

/// A call with tensors among which something else stands, or with names of the wrong kind, or with
/// several tensors where one is taken.
template <class Kinds, class Names, class... X> inline constexpr bool are_wrong = false;
template <class Kinds, class... N, class... X>
inline constexpr bool are_wrong<Kinds, list<N...>, X...> =
    (Operand<X> || ...) &&
    !((Operand<X> && ...) && Kinds::template fit<N...>() && !(Kinds::one && sizeof...(X) > 1));

template <class Kinds, class Names, class... X> struct wrong_kind;
template <class Kinds, class... N, class... X> struct wrong_kind<Kinds, list<N...>, X...> {
  using type = typename first_of<
      typename Kinds::template fault<N...>,
      std::conditional_t<Operand<X>, no_fault, not_a_tensor<X>>...,
      std::conditional_t<(Kinds::one && sizeof...(X) > 1), wrong_arguments<X...>, no_fault>>::type;
};

using wants_dims = kinds<named_kind::dim>;
using wants_result = kinds<named_kind::dim_or_real>;
using wants_table_dim = many<kinds<named_kind::dim>>;
using wants_product_dims = many<kinds<named_kind::dim_or_real>>;
using wants_axes = kinds<named_kind::axis>;
using wants_dim_axis = kinds<named_kind::dim_in_layout, named_kind::axis>;
using wants_dims_axis = kinds<named_kind::dim, named_kind::dim_in_layout, named_kind::axis>;
using wants_layout = kinds<named_kind::layout>;

}  // namespace detail

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_result, detail::list<D...>, X...>
constexpr poison sum(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_result, detail::list<D...>, X...>::type>,
      "sum: dims stand in the angle brackets, one tensor in the parentheses: "
      "sum<batch>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_result, detail::list<D...>, X...>
constexpr poison mean(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_result, detail::list<D...>, X...>::type>,
      "mean: dims stand in the angle brackets, one tensor in the parentheses: "
      "mean<batch>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison max(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "max: dims stand in the angle brackets, one tensor in the parentheses: "
                "max<batch>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison min(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "min: dims stand in the angle brackets, one tensor in the parentheses: "
                "min<batch>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison argmax(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "argmax: a dim stands in the angle brackets, a tensor in the parentheses: "
                "argmax<label>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison argmin(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "argmin: a dim stands in the angle brackets, a tensor in the parentheses: "
                "argmin<label>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison softmax(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "softmax: dims stand in the angle brackets, one tensor in the parentheses: "
                "softmax<label>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison log_softmax(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "log_softmax: dims stand in the angle brackets, one tensor in the parentheses: "
                "log_softmax<label>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_product_dims, detail::list<D...>, X...>
constexpr poison einsum(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_product_dims, detail::list<D...>, X...>::type>,
      "einsum: the dims of the result stand in the angle brackets, tensors in the "
      "parentheses: einsum<batch, label>(x, w)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison permute(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "permute: dims stand in the angle brackets, one tensor in the parentheses: "
                "permute<label, batch>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison rename(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "rename: two dims stand in the angle brackets, one tensor in the parentheses: "
                "rename<length, memory>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_table_dim, detail::list<D...>, X...>
constexpr poison take(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_table_dim, detail::list<D...>, X...>::type>,
      "take: a dim of the table stands in the angle brackets, tensors in the "
      "parentheses: take<vocab>(table, ids)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims, detail::list<D...>, X...>
constexpr poison whole(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_dims, detail::list<D...>, X...>::type>,
                "whole: a dim stands in the angle brackets, a tensor in the parentheses: "
                "whole<batch>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dim_axis, detail::list<D...>, X...>
constexpr poison own(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_dim_axis, detail::list<D...>, X...>::type>,
      "own: a dim and an axis stand in the angle brackets, a tensor in the "
      "parentheses: own<batch, rows>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_axes, detail::list<D...>, X...>
constexpr poison all_reduce(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_axes, detail::list<D...>, X...>::type>,
                "all_reduce: axes stand in the angle brackets, a tensor in the parentheses: "
                "all_reduce<rows>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_axes, detail::list<D...>, X...>
constexpr poison all_gather(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_axes, detail::list<D...>, X...>::type>,
                "all_gather: an axis stands in the angle brackets, a tensor in the parentheses:"
                " all_gather<rows>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dim_axis, detail::list<D...>, X...>
constexpr poison reduce_scatter(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_dim_axis, detail::list<D...>, X...>::type>,
      "reduce_scatter: a dim and an axis stand in the angle brackets, a tensor in the"
      " parentheses: reduce_scatter<batch, rows>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_dims_axis, detail::list<D...>, X...>
constexpr poison all_to_all(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_dims_axis, detail::list<D...>, X...>::type>,
      "all_to_all: two dims and an axis stand in the angle brackets, a tensor in the "
      "parentheses: all_to_all<batch, hidden, rows>(x)");
  return {};
}

template <class... D, class... X>
  requires detail::are_wrong<detail::wants_layout, detail::list<D...>, X...>
constexpr poison relayout(const X&...) {
  static_assert(
      ok<typename detail::wrong_kind<detail::wants_layout, detail::list<D...>, X...>::type>,
      "relayout: a layout stands in the angle brackets, a tensor in the parentheses: "
      "relayout<layout<pod, split<batch, rows>>>(x)");
  return {};
}

/// Several layouts, from one to the other.
template <Layout From, Layout To, Layout... More, Operand X> constexpr poison relayout(const X&) {
  static_assert(ok<std::conditional_t<is_poison<X>, no_fault, wrong_arguments<From, To, More...>>>,
                "relayout: a layout stands in the angle brackets, a tensor in the parentheses: "
                "relayout<layout<pod, split<batch, rows>>>(x)");
  return {};
}

template <class A, index_t... K, class... X>
  requires(sizeof...(K) > 0 && detail::are_wrong<detail::wants_axes, detail::list<A>, X...>)
constexpr poison place(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_axes, detail::list<A>, X...>::type>,
                "place: an axis and a coordinate stand in the angle brackets, a tensor in the "
                "parentheses: place<stage, 1>(x)");
  return {};
}

template <class A, index_t... K, class... X>
  requires(sizeof...(K) > 0 && detail::are_wrong<detail::wants_axes, detail::list<A>, X...>)
constexpr poison send(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_axes, detail::list<A>, X...>::type>,
                "send: an axis and a coordinate stand in the angle brackets, a tensor in the "
                "parentheses: send<stage, 1>(x)");
  return {};
}

template <class A, index_t... K, class... X>
  requires(sizeof...(K) > 0 && detail::are_wrong<detail::wants_axes, detail::list<A>, X...>)
constexpr poison reduce(const X&...) {
  static_assert(ok<typename detail::wrong_kind<detail::wants_axes, detail::list<A>, X...>::type>,
                "reduce: an axis and a coordinate stand in the angle brackets, a tensor in the "
                "parentheses: reduce<stage, 1>(x)");
  return {};
}

}  // namespace dimesh

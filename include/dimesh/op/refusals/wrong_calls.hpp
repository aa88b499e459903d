// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who puts arguments in another order, a width behind the dims, or an array
// beside a tensor? One sentence: overloads that take what the functions themselves do not.
//
//   shift<north>(1, u)         -> wrong_arguments<int, ...>: shift: a dim stands in the angle ...
//   halo_exchange<north>(u)    -> wrong_arguments<...>
//   x * std::vector<float>{}   -> not_a_tensor<std::vector<float>>
#pragma once

#include "dimesh/op/dropout.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/shift.hpp"

namespace dimesh {

namespace detail {

template <class N> inline constexpr bool is_distance = std::is_convertible_v<N, index_t>;
template <class... E> inline constexpr bool are_ends = false;
template <> inline constexpr bool are_ends<> = true;
template <> inline constexpr bool are_ends<boundary> = true;

template <class... A> inline constexpr bool shifts = false;
template <class X, class N, class... E>
inline constexpr bool shifts<X, N, E...> = Operand<X> && is_distance<N> && are_ends<E...>;
template <class... A> inline constexpr bool exchanges = false;
template <class X, class... E>
inline constexpr bool exchanges<X, E...> = Operand<X> && are_ends<E...>;
template <class... A> inline constexpr bool drops = false;
template <class R, class X>
inline constexpr bool drops<R, random_key, X> = std::is_convertible_v<R, double> && Operand<X>;

/// The first name that is no dim, or else all arguments.
template <class Names, class... A> struct wrong_call;
template <class... D, class... A> struct wrong_call<list<D...>, A...> {
  using type = typename first_of<std::conditional_t<Dim<D>, no_fault, not_a_dim<D>>...,
                                 wrong_arguments<A...>>::type;
};

/// Numbers in memory that are no tensor.
template <class V>
concept Numbers = !Operand<V> && (std::is_array_v<V> || std::is_pointer_v<V> ||
                                  requires(const V& v) { v.data(); });
template <class A, class B>
concept TensorMeetsNumbers = (Tensor<A> && Numbers<B>) || (Numbers<A> && Tensor<B>);
template <class A, class B>
using not_both_tensors = std::conditional_t<Tensor<A>, not_a_tensor<B>, not_a_tensor<A>>;

}  // namespace detail

template <class... D, class... A>
  requires(!(sizeof...(D) == 1 && (Dim<D> && ...) && detail::shifts<A...>))
constexpr poison shift(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D...>, A...>::type>,
                "shift: a dim stands in the angle brackets, the tensor and how far in the "
                "parentheses: shift<time>(x, 1)");
  return {};
}
template <class D, index_t N, class... A> constexpr poison shift(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D>, A...>::type>,
                "shift: a dim stands in the angle brackets, the tensor and how far in the "
                "parentheses: shift<time>(x, 1)");
  return {};
}

template <index_t N, class... D, class... A> constexpr poison shift(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D...>,
                                               std::integral_constant<index_t, N>, A...>::type>,
                "shift: a dim stands in the angle brackets, the tensor and how far in the "
                "parentheses: shift<time>(x, 1)");
  return {};
}

template <class... D, class... A>
  requires(!(sizeof...(D) > 0 && (detail::is_dim_with_halo<D> && ...) && detail::exchanges<A...>))
constexpr poison halo_exchange(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D...>, A...>::type>,
                "halo_exchange: the width stands in the angle brackets, and then dims; the tensor "
                "in the parentheses: halo_exchange<1, north>(x)");
  return {};
}
template <class D, index_t W, class... A> constexpr poison halo_exchange(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D>, A...>::type>,
                "halo_exchange: the width stands in the angle brackets, and then dims; the tensor "
                "in the parentheses: halo_exchange<1, north>(x)");
  return {};
}
template <index_t Before, index_t After, class... D, class... A>
constexpr poison halo_exchange(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D...>, A...>::type>,
                "halo_exchange: widths of its own stand with a dim: halo_exchange<halo<north, 1, "
                "0>>(x)");
  return {};
}
template <index_t W, class... D, class... A>
  requires(!(sizeof...(D) > 0 && (Dim<D> && ...) && detail::exchanges<A...>))
constexpr poison halo_exchange(const A&...) {
  static_assert(ok<typename detail::wrong_call<detail::list<D...>, A...>::type>,
                "halo_exchange: the width stands in the angle brackets, and then dims; the tensor "
                "in the parentheses: halo_exchange<1, north>(x)");
  return {};
}

template <class... A>
  requires(!detail::drops<A...>)
constexpr poison dropout(const A&...) {
  static_assert(
      ok<wrong_arguments<A...>>,
      "dropout: the arguments are a rate, a key and a tensor: dropout(0.1, random_key{1}, "
      "x)");
  return {};
}

template <class A, class B>
  requires detail::TensorMeetsNumbers<A, B>
constexpr poison operator+(const A&, const B&) {
  static_assert(ok<detail::not_both_tensors<A, B>>,
                "operator+: a tensor meets a tensor or a number; make a tensor of the array: "
                "from_array<X>(grid, array)");
  return {};
}
template <class A, class B>
  requires detail::TensorMeetsNumbers<A, B>
constexpr poison operator-(const A&, const B&) {
  static_assert(ok<detail::not_both_tensors<A, B>>,
                "operator-: a tensor meets a tensor or a number; make a tensor of the array: "
                "from_array<X>(grid, array)");
  return {};
}
template <class A, class B>
  requires detail::TensorMeetsNumbers<A, B>
constexpr poison operator*(const A&, const B&) {
  static_assert(ok<detail::not_both_tensors<A, B>>,
                "operator*: a tensor meets a tensor or a number; make a tensor of the array: "
                "from_array<X>(grid, array)");
  return {};
}
template <class A, class B>
  requires detail::TensorMeetsNumbers<A, B>
constexpr poison operator/(const A&, const B&) {
  static_assert(ok<detail::not_both_tensors<A, B>>,
                "operator/: a tensor meets a tensor or a number; make a tensor of the array: "
                "from_array<X>(grid, array)");
  return {};
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who gives the tensor first and the function behind it, or no more than a
// function's name? One sentence: overloads of what takes a function.
//
//   map(x, f)         -> wrong_arguments<...>: map: the function comes first ...
//   map(std::exp, x)  -> function_not_an_object<float(*)(float)>
//   std::exp(x)       -> not_by_element<...>
#pragma once

#include <cmath>
#include <string>

#include "dimesh/op/refusals/unnamed_dims.hpp"
#include "dimesh/op/stencil_exchange.hpp"

namespace dimesh {

namespace detail {

template <class Function> constexpr poison refuse_name() {
  static_assert(
      ok<std::conditional_t<std::is_void_v<Function>, no_fault, function_not_an_object<Function>>>,
      "map: a function's name may mean several functions; write a function object: "
      "map([](auto v) { return dm::exp(v); }, x)");
  return {};
}

/// A function of one or two tensors' elements, which overloads of their own take.
template <class Function, class... X> inline constexpr bool is_of_elements = false;
template <class Function, class X>
inline constexpr bool is_of_elements<Function, X> =
    std::is_same_v<Function, computed<value_of<X>>(computed<value_of<X>>)>;
template <class Function, class X, class Y>
inline constexpr bool is_of_elements<Function, X, Y> =
    std::is_same_v<Function, computed<value_of<X>>(computed<value_of<X>>, computed<value_of<X>>)>;

/// Tensors among the arguments, but not a function first and then they alone.
template <class... A> inline constexpr bool function_misplaced = false;
template <class F, class... X>
inline constexpr bool function_misplaced<F, X...> =
    (Operand<F> || (Operand<X> || ...)) && (Operand<F> || !(Operand<X> && ...));

struct no_operand {
  template <class F>
    requires(!Operand<F>)
  constexpr no_operand(const F&) {}  // NOLINT: a conversion is meant
};

/// A function, what becomes of the halos, and tensors.
template <class... A> inline constexpr bool steps_halos = false;
template <class F, class Way, class U, class... X>
inline constexpr bool steps_halos<F, Way, U, X...> =
    !Operand<F> && std::is_convertible_v<const Way&, halo_way> && (Operand<U> && ... && Operand<X>);

}  // namespace detail

template <class T = void, class... A>
  requires detail::function_misplaced<A...>
constexpr poison map(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "map: the function comes first, then the tensors whose elements it takes: map(f, "
                "x, y)");
  return {};
}

template <class... A>
  requires detail::function_misplaced<A...>
constexpr poison stencil(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "stencil: the function comes first, then the tensors that it looks at: stencil(f, "
                "u)");
  return {};
}

template <class... A>
  requires((Operand<A> || ...) && !detail::steps_halos<A...>)
constexpr poison stencil_exchange(const A&...) {
  static_assert(ok<wrong_arguments<A...>>,
                "stencil_exchange: the function comes first, then what lies beyond the ends, then "
                "tensors: stencil_exchange(f, boundary::zero, u)");
  return {};
}

/// A function, and no tensor whose elements it would take.
template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison map(detail::no_operand) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "map: the function comes first, then the tensors whose elements it takes: map(f, "
                "x, y)");
  return {};
}

template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison map(detail::no_operand, detail::no_operand, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "map: the function comes first, then the tensors whose elements it takes: map(f, "
                "x, y)");
  return {};
}

/// Names before the function: elements have none.
template <class... D, class F, Operand... X>
  requires(sizeof...(D) > 0 && (Dim<D> && ...) && !Operand<F>)
constexpr poison map(const F&, const X&...) {
  static_assert(ok<wrong_arguments<D...>>,
                "map: goes over all elements, and no dim is named: map(f, x); over a dim go sum, "
                "softmax, cumsum and the like");
  return {};
}

namespace detail {
template <class... D> constexpr poison refuse_dims_of_function() {
  static_assert(ok<wrong_arguments<D...>>,
                "functions of elements: they go over all elements, and no dim is named: relu(x), "
                "exp(x); over a dim go sum, softmax, cumsum and the like");
  return {};
}
}  // namespace detail
template <Dim D, Dim... E, Operand X> constexpr poison exp(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison log(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison tanh(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison sigmoid(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison sqrt(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison square(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison abs(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison relu(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison gelu(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison silu(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison softplus(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison sin(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison cos(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}
template <Dim D, Dim... E, Operand X> constexpr poison floor(const X&) {
  return detail::refuse_dims_of_function<D, E...>();
}

/// A base, and no exponent.
template <class... No>
  requires(sizeof...(No) == 0)
constexpr poison pow(detail::any_operand) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "pow: takes a base and an exponent, of which one may be a number: pow(x, 3)");
  return {};
}

/// A name that means several functions, such as std::exp, is taken for that of the elements' type;
/// it cannot be told from one that means it alone.
template <Tensor X>
constexpr poison map(computed<value_of<X>> (*)(computed<value_of<X>>), const X&) {
  return detail::refuse_name<computed<value_of<X>>(computed<value_of<X>>)>();
}
template <Tensor X, Tensor Y>
constexpr poison map(computed<value_of<X>> (*)(computed<value_of<X>>, computed<value_of<X>>),
                     const X&, const Y&) {
  using T = computed<value_of<X>>;
  return detail::refuse_name<T(T, T)>();
}

/// Functions of other types, and of more elements, likewise.
template <class R, class... A, Tensor... X>
  requires(sizeof...(X) > 0 && !detail::is_of_elements<R(A...), X...>)
constexpr poison map(R (*)(A...), const X&...) {
  static_assert(
      ok<std::conditional_t<(sizeof...(X) > 0), function_not_an_object<R(A...)>, no_fault>>,
      "map: a function's name may mean several functions; write a function object: "
      "map([](auto v) { return dm::exp(v); }, x)");
  return {};
}

// A distance, and nothing that it is counted from; or among the names.
template <class... D, class N>
  requires(sizeof...(D) > 0 && std::is_arithmetic_v<N>)
constexpr poison at(N) {
  static_assert(ok<wrong_arguments<D..., N>>,
                "at: what the function is given comes first, then a distance for each dim: "
                "at<north>(v, -1)");
  return {};
}
template <class D, index_t... By>
  requires(sizeof...(By) > 0)
constexpr poison at(detail::any_argument) {
  static_assert(ok<wrong_arguments<D, std::integral_constant<index_t, By>...>>,
                "at: what the function is given comes first, then a distance for each dim: "
                "at<north>(v, -1)");
  return {};
}

}  // namespace dimesh

// A name of the standard library is found nowhere else than in its namespace. (The packs: see
// local/dual_in_std.hpp.)
namespace std {

template <dimesh::Tensor X, class... None> constexpr dimesh::poison exp(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "exp: that of std takes one number; of a tensor write dm::exp(x)");
  return {};
}
template <dimesh::Tensor X, class... None> constexpr dimesh::poison log(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "log: that of std takes one number; of a tensor write dm::log(x)");
  return {};
}
template <dimesh::Tensor X, class... None> constexpr dimesh::poison tanh(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "tanh: that of std takes one number; of a tensor write dm::tanh(x)");
  return {};
}
template <dimesh::Tensor X, class... None> constexpr dimesh::poison sqrt(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "sqrt: that of std takes one number; of a tensor write dm::sqrt(x)");
  return {};
}
template <dimesh::Tensor X, class... None> constexpr dimesh::poison sin(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "sin: that of std takes one number; of a tensor write dm::sin(x)");
  return {};
}
template <dimesh::Tensor X, class... None> constexpr dimesh::poison cos(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "cos: that of std takes one number; of a tensor write dm::cos(x)");
  return {};
}
template <dimesh::Tensor X, class... None> constexpr dimesh::poison abs(const X&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "abs: that of std takes one number; of a tensor write dm::abs(x)");
  return {};
}
template <dimesh::Tensor X, class Y, class... None>
constexpr dimesh::poison pow(const X&, const Y&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<X>>,
                "pow: that of std takes numbers; of a tensor write map([](auto v) { return "
                "dm::pow(v, 3); }, x)");
  return {};
}

// Of a call that was wrong; all that it might have given has a text.
inline string to_string(const dimesh::poison&) { return {}; }

template <class X, class Y, class... None>
  requires(dimesh::Tensor<X> != dimesh::Tensor<Y>)
constexpr dimesh::poison max(const X&, const Y&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<std::conditional_t<dimesh::Tensor<X>, X, Y>>>,
                "max: that of std takes numbers; of a tensor write dm::maximum(x, 0)");
  return {};
}
template <class X, class Y, class... None>
  requires(dimesh::Tensor<X> != dimesh::Tensor<Y>)
constexpr dimesh::poison min(const X&, const Y&, None...) {
  static_assert(dimesh::ok<dimesh::not_by_element<std::conditional_t<dimesh::Tensor<X>, X, Y>>>,
                "min: that of std takes numbers; of a tensor write dm::minimum(x, 0)");
  return {};
}

}  // namespace std

namespace Kokkos {
template <class X, class Y>
  requires(dimesh::Tensor<X> || dimesh::Tensor<Y>)
void deep_copy(const X&, const Y&) {
  static_assert(dimesh::ok<dimesh::not_by_element<std::conditional_t<dimesh::Tensor<X>, X, Y>>>,
                "deep_copy: that of Kokkos takes views; write deep_copy(x.view(), 0), or fill(x, "
                "0), fill_block(x, array), y = clone(x)");
}
}  // namespace Kokkos

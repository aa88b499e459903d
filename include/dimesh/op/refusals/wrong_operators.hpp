// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who writes an operator that tensors do not have, or one of tensors between
// structs of them? One sentence.
//
//   x ^ 2, ids % 2, a & b, !a, x++    -> wrong_arguments<...>: operator^: powers are pow(x, 2)
//   parameters * 0.5                  -> wrong_arguments<...>: operator*: a struct is no tensor ...
#pragma once

#include "dimesh/op/arithmetic.hpp"
#include "dimesh/reflect/hana.hpp"

namespace dimesh {

namespace detail {
template <class A, class B>
concept TensorMeetsAny = (Operand<A> && (Operand<B> || Number<B>)) || (Number<A> && Operand<B>);
/// A struct of tensors, beside another one, a number or a tensor.
template <class A> concept Struct = is_described<A> && !Operand<A>;
template <class A, class B>
concept StructMeets = (Struct<A> && (Struct<B> || Operand<B>)) || (Operand<A> && Struct<B>);
/// A number, by a conversion: an operator of the user's that takes numbers fits better.
struct any_number {
  template <Number N> constexpr any_number(N) {}  // NOLINT: a conversion is meant
};
template <class... A>
using wrong_unless_poison =
    std::conditional_t<(is_poison<A> || ...), no_fault, wrong_arguments<A...>>;
}  // namespace detail

template <class A, class B>
  requires detail::TensorMeetsAny<A, B>
constexpr poison operator^(const A&, const B&) {
  static_assert(ok<detail::wrong_unless_poison<A, B>>,
                "operator^: powers are a function, pow(x, 2), and so is logical_xor(a, b)");
  return {};
}
template <class A, class B>
  requires detail::TensorMeetsAny<A, B>
constexpr poison operator%(const A&, const B&) {
  static_assert(ok<detail::wrong_unless_poison<A, B>>,
                "operator%: remainders are a function, mod(x, 2), with the sign of the divisor");
  return {};
}
template <class A, class B>
  requires detail::TensorMeetsAny<A, B>
constexpr poison operator&(const A&, const B&) {
  static_assert(ok<detail::wrong_unless_poison<A, B>>,
                "operator&: of tensors it is a function: logical_and(x > 0, x < 1), of "
                "<dimesh/op/logic.hpp>");
  return {};
}
template <class A, class B>
  requires detail::TensorMeetsAny<A, B>
constexpr poison operator|(const A&, const B&) {
  static_assert(ok<detail::wrong_unless_poison<A, B>>,
                "operator|: of tensors it is a function: logical_or(x < 0, x > 1), of "
                "<dimesh/op/logic.hpp>");
  return {};
}
/// Of tensors `and`, `or`, `not` are functions: operators would not leave out what stands second.
template <Operand X, Operand Y> constexpr poison operator&&(const X&, const Y&) {
  static_assert(ok<detail::wrong_unless_poison<X, Y>>,
                "operator&&: of tensors it is a function: logical_and(x > 0, x < 1), of "
                "<dimesh/op/logic.hpp>");
  return {};
}
template <Operand X, Operand Y> constexpr poison operator||(const X&, const Y&) {
  static_assert(ok<detail::wrong_unless_poison<X, Y>>,
                "operator||: of tensors it is a function: logical_or(x < 0, x > 1), of "
                "<dimesh/op/logic.hpp>");
  return {};
}
template <Operand X> constexpr poison operator!(const X&) {
  static_assert(ok<detail::wrong_unless_poison<X>>,
                "operator!: of tensors it is a function: logical_not(x > 0), of "
                "<dimesh/op/logic.hpp>; one truth is value(x)");
  return {};
}

template <Operand A> constexpr poison operator~(const A&) {
  static_assert(ok<detail::wrong_unless_poison<A>>,
                "operator~: of tensors it is a function: logical_not(x > 0), of "
                "<dimesh/op/logic.hpp>");
  return {};
}
template <Operand A> constexpr void operator++(A&) {
  static_assert(ok<detail::wrong_unless_poison<A>>, "operator++: write x += 1");
}
template <Operand A> constexpr void operator++(A&, int) {
  static_assert(ok<detail::wrong_unless_poison<A>>, "operator++: write x += 1");
}

/// A number remains one.
template <detail::Number N, Tensor X> constexpr N& operator+=(N& n, const X&) {
  static_assert(ok<not_by_element<X>>,
                "operator+=: the number on the left cannot become a tensor; add up tensors, or "
                "numbers: n += value(x), of one without dims that is complete");
  return n;
}
template <detail::Number N, Tensor X> constexpr N& operator-=(N& n, const X&) {
  static_assert(ok<not_by_element<X>>,
                "operator-=: the number on the left cannot become a tensor; add up tensors, or "
                "numbers: n -= value(x), of one without dims that is complete");
  return n;
}

template <class A, class B>
  requires detail::StructMeets<A, B>
constexpr poison operator+(const A&, const B&) {
  static_assert(ok<detail::wrong_unless_poison<A, B>>,
                "operator+: a struct of tensors is no tensor; for_each_tensor walks several side "
                "by side: for_each_tensor([](const auto&, auto& x, auto& y) { x += y; }, p, d)");
  return {};
}
template <class A, class B>
  requires detail::StructMeets<A, B>
constexpr poison operator-(const A&, const B&) {
  static_assert(ok<detail::wrong_unless_poison<A, B>>,
                "operator-: a struct of tensors is no tensor; for_each_tensor walks several side "
                "by side: for_each_tensor([](const auto&, auto& x, auto& y) { x -= y; }, p, d)");
  return {};
}
template <detail::Struct S> constexpr poison operator*(const S&, detail::any_number) {
  static_assert(ok<wrong_arguments<S>>,
                "operator*: a struct of tensors is no tensor; rescale(p, 0.5) multiplies all in "
                "place, and for_each_tensor walks them one by one");
  return {};
}
template <detail::Struct S> constexpr poison operator*(detail::any_number, const S&) {
  static_assert(ok<wrong_arguments<S>>,
                "operator*: a struct of tensors is no tensor; rescale(p, 0.5) multiplies all in "
                "place, and for_each_tensor walks them one by one");
  return {};
}
template <detail::Struct S> constexpr poison operator/(const S&, detail::any_number) {
  static_assert(ok<wrong_arguments<S>>,
                "operator/: a struct of tensors is no tensor; rescale(p, 0.5) multiplies all in "
                "place, and for_each_tensor walks them one by one");
  return {};
}
/// A struct on the left, with another on the right or what a faulty product of one has given.
template <detail::Struct S, class B>
  requires(detail::Struct<B> || is_poison<B>)
constexpr S& operator+=(S& s, const B&) {
  static_assert(ok<detail::wrong_unless_poison<S, B>>,
                "operator+=: a struct of tensors is no tensor; for_each_tensor walks several side "
                "by side: for_each_tensor([](const auto&, auto& x, auto& y) { x += y; }, p, d)");
  return s;
}
template <detail::Struct S, class B>
  requires(detail::Struct<B> || is_poison<B>)
constexpr S& operator-=(S& s, const B&) {
  static_assert(ok<detail::wrong_unless_poison<S, B>>,
                "operator-=: a struct of tensors is no tensor; an optimizer steps: sgd{.rate = "
                "0.1}(p, gradients), and for_each_tensor walks several side by side");
  return s;
}

}  // namespace dimesh

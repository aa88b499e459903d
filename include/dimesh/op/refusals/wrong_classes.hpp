// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who writes an operator between classes of the library that are no tensors, or
// gives a function of elements a struct of tensors? One sentence. As in core/any_argument.hpp, all
// is taken by conversions: operators and functions of the user's fit better, templates or not.
//
//   key + 1                          -> wrong_arguments<random_key>: random_key: a key is no ...
//   top_k<label, best>(x) * 2        -> wrong_arguments<top_elements<...>>
//   relu(parameters)                 -> not_a_tensor<network<...>>
#pragma once

#include "dimesh/core/any_argument.hpp"
#include "dimesh/op/refusals/wrong_operators.hpp"
#include "dimesh/random.hpp"

namespace dimesh {

class any_tensor;  // any_tensor.hpp

namespace detail {

template <class A>
concept NoNumber =
    Dim<A> || std::is_same_v<A, random_key> || std::is_same_v<A, any_tensor> || has_several<A>;
template <class A> inline constexpr bool is_of_dim = Dim<A>;
template <class A, bool That>
using wrong_if = std::conditional_t<That, wrong_arguments<A>, no_fault>;

struct no_number {
  /// Of one class it says so once, although a loop has two operators.
  template <NoNumber A> constexpr no_number(const A&) {  // NOLINT: a conversion is meant
    static_assert(ok<wrong_if<A, is_of_dim<A>>>,
                  "dim: a dim is no number; how many elements it has is batch::extent, or "
                  "x.extent<batch>(), and the index that batch{3} carries is its .n");
    static_assert(ok<wrong_if<A, std::is_same_v<A, random_key>>>,
                  "random_key: a key is no number; key.fold(1), key.fold(2) are others that are "
                  "independent of it");
    static_assert(ok<wrong_if<A, std::is_same_v<A, any_tensor>>>,
                  "any_tensor: its type is known at run time; ask for the tensor that it holds: "
                  "a.as<tensor<float, L, batch>>()");
    static_assert(ok<wrong_if<A, has_several<A>>>,
                  "operators take one tensor, and this result has several; name that which is "
                  "meant: top_k<label, best>(x).values, batch_norm<model>(m, p, x).y");
  }
};
/// What stands beside it.
struct other_operand {
  template <class A>
    requires(!NoNumber<A>)
  constexpr other_operand(const A&) {}  // NOLINT: a conversion is meant
};

/// Tensors, but not one.
struct several_tensors {
  template <Struct A> constexpr several_tensors(const A&) {  // NOLINT: a conversion is meant
    static_assert(ok<not_a_tensor<A>>,
                  "functions of elements take one tensor, and this is a struct of them; walk it: "
                  "for_each_tensor([](const auto&, auto& x) { x = relu(x); }, p)");
  }
  template <class A>
    requires(has_several<A> && !Struct<A>)
  constexpr several_tensors(const A&) {  // NOLINT: a conversion is meant
    static_assert(ok<not_a_tensor<A>>,
                  "functions of elements take one tensor, and this result has several; name that "
                  "which is meant: top_k<label, best>(x).values, batch_norm<model>(m, p, x).y");
  }
};

}  // namespace detail

template <class... None> constexpr poison operator+(detail::no_number, detail::any_argument) {
  return {};
}
template <class... None> constexpr poison operator+(detail::other_operand, detail::no_number) {
  return {};
}
template <class... None> constexpr poison operator-(detail::no_number, detail::any_argument) {
  return {};
}
template <class... None> constexpr poison operator-(detail::other_operand, detail::no_number) {
  return {};
}
template <class... None> constexpr poison operator*(detail::no_number, detail::any_argument) {
  return {};
}
template <class... None> constexpr poison operator*(detail::other_operand, detail::no_number) {
  return {};
}
template <class... None> constexpr poison operator/(detail::no_number, detail::any_argument) {
  return {};
}
template <class... None> constexpr poison operator/(detail::other_operand, detail::no_number) {
  return {};
}
template <class... None> constexpr poison operator-(detail::no_number) { return {}; }
// Two keys are equal or not, and so may be what the others are made of.
template <class... None> constexpr bool operator<(detail::no_number, detail::any_argument) {
  return {};
}
template <class... None> constexpr bool operator<(detail::other_operand, detail::no_number) {
  return {};
}
template <class... None> constexpr bool operator>(detail::no_number, detail::any_argument) {
  return {};
}
template <class... None> constexpr bool operator>(detail::other_operand, detail::no_number) {
  return {};
}
template <class... None> constexpr void operator++(detail::no_number) {}
template <class... None> constexpr void operator++(detail::no_number, int) {}

template <class... None> constexpr poison exp(detail::several_tensors) { return {}; }
template <class... None> constexpr poison log(detail::several_tensors) { return {}; }
template <class... None> constexpr poison sqrt(detail::several_tensors) { return {}; }
template <class... None> constexpr poison square(detail::several_tensors) { return {}; }
template <class... None> constexpr poison abs(detail::several_tensors) { return {}; }
template <class... None> constexpr poison tanh(detail::several_tensors) { return {}; }
template <class... None> constexpr poison sigmoid(detail::several_tensors) { return {}; }
template <class... None> constexpr poison relu(detail::several_tensors) { return {}; }
template <class... None> constexpr poison gelu(detail::several_tensors) { return {}; }
template <class... None> constexpr poison silu(detail::several_tensors) { return {}; }
template <class... D> constexpr poison sum(detail::several_tensors) { return {}; }
template <class... D> constexpr poison mean(detail::several_tensors) { return {}; }
template <class... D> constexpr poison max(detail::several_tensors) { return {}; }
template <class... D> constexpr poison min(detail::several_tensors) { return {}; }
template <class... D> constexpr poison softmax(detail::several_tensors) { return {}; }
template <class... D> constexpr poison argmax(detail::several_tensors) { return {}; }
template <class... T> constexpr poison cast(detail::several_tensors) { return {}; }

}  // namespace dimesh

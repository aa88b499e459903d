// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a call return that is not right? Something that everything takes in silence, so that
// one mistake is one error.
//
//   auto y = sum<rows>(x);    // the mistake: rows is no dim; y is poison
//   auto z = exp(y) + 1;      // and so is z; nothing is said of either
#pragma once

#include <type_traits>

namespace dimesh {

/// What a faulty call returns. Every operation accepts it in silence, so one mistake stays one
/// error; so do assignments, reads and prints of it.
struct [[nodiscard]] poison {
  constexpr poison() = default;
  template <class... Anything>
    requires(sizeof...(Anything) > 1 || !(std::is_base_of_v<poison, Anything> || ...))
  constexpr explicit poison(const Anything&...) {}
  template <class Anything>
    requires(!std::is_pointer_v<Anything> && !std::is_base_of_v<poison, Anything>)
  constexpr operator Anything() const {
    if constexpr (std::is_default_constructible_v<Anything>)
      return Anything{};
    else
      __builtin_unreachable();  // the program does not compile
  }
  template <class Anything>
    requires(!std::is_base_of_v<poison, Anything>)
  constexpr const poison& operator=(const Anything&) const {
    return *this;
  }
  template <class... I> constexpr poison operator()(const I&...) const { return {}; }
  template <class A> constexpr const poison& operator+=(const A&) const { return *this; }
  template <class N>
    requires std::is_arithmetic_v<N>
  friend constexpr N& operator+=(N& n, const poison&) {
    return n;
  }
  template <class A> constexpr const poison& operator-=(const A&) const { return *this; }
  template <class N>
    requires std::is_arithmetic_v<N>
  friend constexpr N& operator-=(N& n, const poison&) {
    return n;
  }
  template <class A> constexpr const poison& operator*=(const A&) const { return *this; }
  template <class N>
    requires std::is_arithmetic_v<N>
  friend constexpr N& operator*=(N& n, const poison&) {
    return n;
  }
  template <class A> constexpr const poison& operator/=(const A&) const { return *this; }
  template <class N>
    requires std::is_arithmetic_v<N>
  friend constexpr N& operator/=(N& n, const poison&) {
    return n;
  }
  template <class I> constexpr poison operator[](const I&) const { return {}; }
  template <class Stream> friend Stream& operator<<(Stream& out, const poison&) { return out; }

  // What one may ask of a tensor.
  constexpr poison value() const { return {}; }
  constexpr poison shape() const { return {}; }
  constexpr poison grid() const { return {}; }
  constexpr poison size() const { return {}; }
  constexpr poison local_size() const { return {}; }
  constexpr poison local_bytes() const { return {}; }
  template <class... Dim> constexpr poison extent() const { return {}; }
  template <class... Dim> constexpr poison local() const { return {}; }
  template <class... Dim> constexpr poison block() const { return {}; }
  template <class... A> constexpr poison value_and_grad(const A&...) const { return {}; }
  constexpr float* data() const { return nullptr; }
};

/// Poison, or a tensor type that cannot be (tensor.hpp).
template <class X> inline constexpr bool is_poison = false;
template <> inline constexpr bool is_poison<poison> = true;

/// What operations let in where a tensor is wanted, although it is none: poison, and what they
/// refuse when they ask whether it is poison (core/started.hpp).
template <class X> inline constexpr bool stands_for_tensor = is_poison<X>;

namespace detail {
/// What comes of a copy of what stands for a tensor: the same, of the type that cannot be. Of a
/// move on its way, which nobody can copy, poison.
template <class S>
using poison_like = std::conditional_t<std::is_copy_constructible_v<S>, S, poison>;
}  // namespace detail

/// What is made like poison is poison (create.hpp).
template <class S>
  requires stands_for_tensor<S>
constexpr auto empty_like(const S&) {
  (void)is_poison<S>;
  return detail::poison_like<S>{};
}
template <class S>
  requires stands_for_tensor<S>
constexpr auto zeros_like(const S&) {
  (void)is_poison<S>;
  return detail::poison_like<S>{};
}

}  // namespace dimesh

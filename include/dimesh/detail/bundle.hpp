// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do values of different types travel together inside the library? In a bundle: a tuple without
// comparisons and conversions, which cost the compiler more than many an operation does.
//
//   bundle b(1, x);   item<0>(b) -> 1   item<1>(b) -> x
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dimesh::detail {

template <std::size_t I, class T> struct bundled {
  T value;
};

template <class Indices, class... T> struct bundle_base;
template <std::size_t... I, class... T>
struct bundle_base<std::index_sequence<I...>, T...> : bundled<I, T>... {};

template <class... T> struct bundle : bundle_base<std::make_index_sequence<sizeof...(T)>, T...> {
  using base = bundle_base<std::make_index_sequence<sizeof...(T)>, T...>;
  constexpr bundle() = default;
  constexpr explicit bundle(T... x)
    requires(sizeof...(T) > 0)
      : base{{static_cast<T&&>(x)}...} {}
};
template <class... T> bundle(T...) -> bundle<T...>;

/// A bundle whose values are made in their place: bundle_of<X, Y>{{f()}, {g()}}.
template <class... T> using bundle_of = bundle_base<std::make_index_sequence<sizeof...(T)>, T...>;

/// The I-th value of a bundle.
template <std::size_t I, class T> [[gnu::always_inline]] constexpr T& item(bundled<I, T>& b) {
  return b.value;
}
template <std::size_t I, class T>
[[gnu::always_inline]] constexpr const T& item(const bundled<I, T>& b) {
  return b.value;
}
/// The type of the I-th value.
template <std::size_t I, class Bundle>
using item_type = std::remove_cvref_t<decltype(item<I>(std::declval<Bundle&>()))>;

/// f(all values).
template <class F, std::size_t... I, class... T>
constexpr void with_items(const F& f, const bundle_base<std::index_sequence<I...>, T...>& b) {
  f(item<I>(b)...);
}

}  // namespace dimesh::detail

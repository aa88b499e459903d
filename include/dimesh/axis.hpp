// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does an axis of the processor mesh get its name? Like a dim: by a user's struct.
//
//   struct rows : axis<2> {};   // two ranks along it
//   struct cols : axis<>  {};   // as many as given at start-up: cols{4}
#pragma once

#include <concepts>
#include <type_traits>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/types.hpp"

namespace dimesh {

namespace detail {
struct axis_base {};
template <index_t N> constexpr bool assert_size() {
  static_assert(N >= 1, "axis: a size is at least 1; write axis<> for a size given at start-up");
  return true;
}
}  // namespace detail

/// A named mesh axis with N ranks along it.
template <index_t N = dynamic>
struct axis : detail::asserted<detail::assert_size<N>(), detail::axis_base> {
  static constexpr index_t size = N >= 1 ? N : 1;  // one mistake, one error
  constexpr axis() = default;
  constexpr axis(index_t ranks) : n(ranks) {}  // NOLINT: a grid is given cols{4} of axis<4>, too
  index_t n = size;                            ///< ranks that somebody has given; no others fit
};

template <> struct axis<dynamic> : detail::axis_base {
  static constexpr index_t size = dynamic;
  constexpr axis() = default;
  constexpr axis(index_t ranks) : n(ranks) {}  // NOLINT: cols{4} is the intended spelling
  index_t n = 1;                               ///< ranks along the axis
};

namespace detail {
/// The ranks that an axis is given. By its base: a struct that is itself called n hides them.
template <index_t N> constexpr index_t number_in(const axis<N>& a) { return a.n; }
template <index_t N> constexpr index_t size_in(const axis<N>*) { return axis<N>::size; }
}  // namespace detail

/// A user's struct that derives from axis<N>.
template <class A>
concept Axis = std::derived_from<A, detail::axis_base> && std::is_class_v<A> &&
               !std::same_as<A, detail::axis_base>;

/// The ranks along A that its type states, or `dynamic`. By its base, as static_extent.
template <class A>
inline constexpr index_t static_size = detail::size_in(static_cast<const A*>(nullptr));

}  // namespace dimesh

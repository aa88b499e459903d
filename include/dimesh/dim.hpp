// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor dimension get its name? By a user's struct; the struct is the identity, and its
// extent is part of it.
//
//   struct batch  : dim<256> {};   // extent known to the compiler
//   struct length : dim<>    {};   // extent given at run time: length{37}
//   x.at(batch{3}, length{0})      // also indices are given by name
#pragma once

#include <concepts>
#include <type_traits>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/types.hpp"

namespace dimesh {

namespace detail {
struct dim_base {};
template <index_t N> constexpr bool assert_extent() {
  static_assert(N >= 0,
                "dim: an extent is at least 0; write dim<> for an extent given at run time");
  return true;
}
}  // namespace detail

/// A named tensor dimension with N elements.
template <index_t N = dynamic>
struct dim : detail::asserted<detail::assert_extent<N>(), detail::dim_base> {
  static constexpr index_t extent = N >= 0 ? N : 0;  // one mistake, one error
  constexpr dim() = default;
  constexpr dim(index_t index) : n(index) {}  // NOLINT: x.at(batch{3}) is the intended spelling
  index_t n = dynamic;  ///< an index, where one is meant; dynamic: none is given
};

template <> struct dim<dynamic> : detail::dim_base {
  static constexpr index_t extent = dynamic;
  constexpr dim() = default;
  constexpr dim(index_t elements) : n(elements) {}  // NOLINT: length{37} is the intended spelling
  index_t n = dynamic;  ///< elements, or an index; dynamic: not given yet
};

namespace detail {
/// The index or extent that a dim carries. By its base: a struct that is itself called n hides it.
template <index_t N> constexpr index_t number_in(const dim<N>& d) { return d.n; }
template <index_t N> constexpr index_t& number_in(dim<N>& d) { return d.n; }
template <index_t N> constexpr index_t extent_in(const dim<N>*) { return dim<N>::extent; }
}  // namespace detail

/// A user's struct that derives from dim<N>.
template <class D>
concept Dim = std::derived_from<D, detail::dim_base> && std::is_class_v<D> &&
              !std::same_as<D, detail::dim_base>;

/// Elements of D, where its type states them, or `dynamic`. By its base: a struct that is itself
/// called extent hides D::extent.
template <class D>
inline constexpr index_t static_extent = detail::extent_in(static_cast<const D*>(nullptr));

template <class D> inline constexpr bool is_static_dim = static_extent<D> != dynamic;

}  // namespace dimesh

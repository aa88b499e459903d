// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large is a tensor as a whole? A shape lists dims in storage order (row-major, last fastest)
// and carries the extents that the compiler does not know.
//
//   shape<batch, length>{length{37}}.extent<length>()  -> 37
//   shape<batch, length>{length{37}}.size()            -> 256 * 37
#pragma once

#include <array>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/name.hpp"
#include "dimesh/detail/types.hpp"
#include "dimesh/dim.hpp"
#if DIMESH_COMPILED != 1
#include "dimesh/detail/words.hpp"
#endif

namespace dimesh {

namespace detail {
[[noreturn]] void refuse_extent(std::string_view dim, index_t has, index_t given);
[[noreturn]] void refuse_second_extent(std::string_view dim, index_t first, index_t second);
#if DIMESH_COMPILED != 1
[[noreturn]] DIMESH_OUTLINE inline void refuse_extent(std::string_view dim, index_t has,
                                                      index_t given) {
  (words() << "shape: dim '" << dim << "' has " << has << " elements by its type, and " << given
           << " are given; leave the number out, or derive the dim from dim<>")
      .raise();
}
[[noreturn]] DIMESH_OUTLINE inline void refuse_second_extent(std::string_view dim, index_t first,
                                                             index_t second) {
  (words() << "shape: two extents are given for dim '" << dim << "', " << first << " and " << second
           << "; give one")
      .raise();
}
#endif
template <Dim D, bool Static = is_static_dim<D>> struct extent_of {
  static constexpr index_t n = static_extent<D>;
};
template <Dim D> struct extent_of<D, false> {
  index_t n = dynamic;  // not given yet
};
}  // namespace detail

/// A dim with a value, or a shape: what extents can be taken from.
template <class E> concept Extents = Dim<E> || requires { typename E::dims; };

/// The global extents of a tensor with dims D..., in storage order.
template <Dim... D> struct shape : detail::extent_of<D>... {
  using dims = detail::list<D...>;
  static constexpr int rank = sizeof...(D);

  constexpr shape() = default;

  /// From given dims and other shapes, in any order; what does not concern it is ignored, and what
  /// comes after a shape stands for what that says. Throws dimesh::error where a dim itself is
  /// given twice, with two extents, or with one that its type has not.
  template <Extents First, Extents... From>
    requires(!std::same_as<First, shape> || sizeof...(From) > 0)
  constexpr explicit shape(const First& first, const From&... from) {
    if constexpr (sizeof...(From) > 0) (refuse_two<D>(first, from...), ...);
    take(first);
    (take(from), ...);
  }

  template <Dim E> static constexpr bool has = (std::same_as<D, E> || ...);

  template <Dim E>
    requires has<E>
  constexpr index_t extent() const {
    return static_cast<const detail::extent_of<E>&>(*this).n;
  }
  constexpr std::array<index_t, sizeof...(D)> extents() const { return {extent<D>()...}; }
  constexpr index_t size() const { return (index_t{1} * ... * extent<D>()); }
  /// From the extents of all dims in order; of static ones nothing is read.
  static constexpr shape of(const index_t* all) {
    shape s;
    ((is_static_dim<D> ? void(++all) : s.template set_open<D>(*all++)), ...);
    return s;
  }

 private:
  template <class E> constexpr void take(const E& given) {
    if constexpr (Dim<E>) {
      if constexpr (has<E> && !is_static_dim<E>)
        set<E>(detail::number_in(given));
      else if constexpr (has<E>)
        if (const index_t got = detail::number_in(given); got != dynamic && got != static_extent<E>)
          detail::refuse_extent(detail::name_of<E>(), static_extent<E>, got);
    } else if constexpr (requires { typename E::dims; }) {
      take_all(given, typename E::dims{});
    }
  }
  template <class S, class... E> constexpr void take_all(const S& given, detail::list<E...>) {
    (take_one<E>(given), ...);
  }
  template <class E, class S> constexpr void take_one(const S& given) {
    if constexpr (has<E> && !is_static_dim<E>) set<E>(given.template extent<E>());
  }
  template <class E> constexpr void set_open(index_t length) {
    if constexpr (!is_static_dim<E>) static_cast<detail::extent_of<E>&>(*this).n = length;
  }
  template <class E> constexpr void set(index_t length) {
    if (length != dynamic) static_cast<detail::extent_of<E>&>(*this).n = length;
  }
  template <class E, class... Given> static constexpr void refuse_two(const Given&... given) {
    if constexpr (!is_static_dim<E> && (std::same_as<E, Given> + ...) > 1) {
      index_t n = dynamic;
      (refuse_other<E>(n, given), ...);
    }
  }
  template <class E, class G> static constexpr void refuse_other(index_t& n, const G& given) {
    if constexpr (std::same_as<E, G>) {
      const index_t length = detail::number_in(given);
      if (n != dynamic && length != dynamic && n != length)
        detail::refuse_second_extent(detail::name_of<E>(), n, length);
      if (length != dynamic) n = length;
    }
  }
};

}  // namespace dimesh

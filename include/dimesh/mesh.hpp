// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do axes make a mesh? In an ordered list: ranks are numbered row-major, the last axis fastest.
//
//   struct pod : mesh<rows, cols> {};
//   axis_index<pod, cols>              -> 1
//   mesh_sizes<pod>{cols{4}}.size      -> {2, 4}
//
// Where the ranks along the last axis share a node, moves over several axes may go by axis, within
// nodes and then between them (docs/relayout.md):
//
//   struct pod : mesh<node, core> { static constexpr bool moves_by_axis = true; };
#pragma once

#include <array>

#include "dimesh/axis.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/name.hpp"
#include "dimesh/detail/types.hpp"
#include "dimesh/layout/fault.hpp"
#if DIMESH_COMPILED != 1
#include "dimesh/detail/words.hpp"
#endif

namespace dimesh {

/// Names the host's memory as the space of a mesh: `using space = host_space;` in its struct.
struct host_space {};

namespace detail {
struct mesh_base {};

template <class List, class Places> struct axes_at;
template <class List, std::size_t... I> struct axes_at<List, std::index_sequence<I...>> {
  using type = list<type_at<static_cast<int>(I), List>...>;
};
template <class List> struct first_axes {
  using type = List;
};
template <class List>
  requires(List::size > max_axes)
struct first_axes<List> : axes_at<List, std::make_index_sequence<max_axes>> {};

/// What is no axis, the same axis a second time, and what is too much is left out: one mistake, one
/// error.
template <class... A>
using axes_named =
    united<typename concat_impl<list<>, std::conditional_t<Axis<A>, list<A>, list<>>...>::type>;
template <class... A> using axes_of_mesh = typename first_axes<axes_named<A...>>::type;
template <class Axes> struct mesh_of_axes;
template <class... A> struct mesh_of_axes<list<A...>> : mesh_base {
  using axes = list<A...>;
  static constexpr int rank = sizeof...(A);
  static constexpr std::array<index_t, sizeof...(A)> static_sizes{static_size<A>...};
};

template <class... A> struct mesh_formation {
  using type = typename first_of<
      std::conditional_t<Axis<A>, no_fault, not_an_axis<A>>...,
      std::conditional_t<axes_named<A...>::size == sizeof...(A), no_fault,
                         axis_repeated<typename first_repeated<A...>::type>>>::type;
};

template <class... A> constexpr bool assert_mesh() {
  constexpr bool few_axes = sizeof...(A) <= max_axes;
  static_assert(few_axes, "mesh: too many axes; at most max_axes are supported");
  using fault = typename mesh_formation<A...>::type;
  static_assert(ok<only<fault, not_an_axis>>,
                "mesh: a mesh lists axes; derive this one from axis<size>");
  static_assert(ok<only<fault, axis_repeated>>,
                "mesh: an axis stands twice in one mesh; give each axis a name of its own");
  return true;
}
}  // namespace detail

/// The ordered list of axes of a processor mesh. A struct that derives from it may name the memory
/// in which its tensors lie: `using space = host_space`, or a memory space of Kokkos; without it
/// they lie where Kokkos' default execution space has its own.
template <class... A>
struct mesh : detail::asserted<detail::assert_mesh<A...>(),
                               detail::mesh_of_axes<detail::axes_of_mesh<A...>>> {};

/// A user's struct that derives from mesh<A...>.
template <class M>
concept Mesh = std::derived_from<M, detail::mesh_base> && requires { typename M::axes; };

/// Are moves over several axes of M made axis by axis? One that moves them all goes to fewer ranks
/// each time, with larger messages, and passes on what is not its own.
template <Mesh M>
inline constexpr bool moves_by_axis = [] {
  if constexpr (requires { M::moves_by_axis; })
    return bool{M::moves_by_axis};
  else
    return false;
}();

/// Place of axis A in mesh M, -1 where M lacks it.
template <Mesh M, class A> inline constexpr int axis_index = detail::index_of<A, typename M::axes>;

/// What tells a mesh from others where types are lost: in events.
template <Mesh M> inline constexpr std::uint64_t mesh_number = detail::number_of<M>();

/// The bit of axis A in a mask of axes of M; none where M lacks it.
template <Mesh M, class A>
inline constexpr unsigned axis_mask = axis_index<M, A> < 0 ? 0u : 1u << (axis_index<M, A> & 31);

/// True if every axis' size is known to the compiler.
template <Mesh M>
inline constexpr bool is_static_mesh = [] {
  for (index_t s : M::static_sizes)
    if (s == dynamic) return false;
  return true;
}();

namespace detail {
/// An axis is given n ranks, and has so many by its type (or `dynamic`: any number).
[[noreturn]] void refuse_size(std::string_view axis, std::string_view mesh, index_t n, index_t has);
[[noreturn]] void refuse_second_size(std::string_view axis, index_t first, index_t second);
#if DIMESH_COMPILED != 1
[[noreturn]] DIMESH_OUTLINE inline void refuse_second_size(std::string_view axis, index_t first,
                                                           index_t second) {
  (words() << "mesh: two sizes are given for axis '" << axis << "', " << first << " and " << second
           << "; give one")
      .raise();
}
[[noreturn]] DIMESH_OUTLINE inline void refuse_size(std::string_view axis, std::string_view mesh,
                                                    index_t n, index_t has) {
  if (has != dynamic)
    (words() << "mesh: axis '" << axis << "' of mesh '" << mesh << "' has " << has
             << " ranks by its type, and " << n
             << " are given; declare it axis<>, or leave them out")
        .raise();
  (words() << "mesh_sizes: axis '" << axis << "' of mesh '" << mesh << "' has size " << n
           << "; give it at least 1")
      .raise();
}
#endif
}  // namespace detail

/// How many ranks lie along each axis, in mesh order: static sizes and those given at run time (1
/// where none is given). Throws dimesh::error if one is less than 1.
template <Mesh M> struct mesh_sizes {
  std::array<index_t, M::rank> size{};

  template <Axis... A> constexpr explicit mesh_sizes(const A&... given) : size(M::static_sizes) {
    constexpr bool all_there = ((axis_index<M, A> >= 0) && ...);
    static_assert(all_there, "mesh_sizes: this axis is not in the mesh; add it there");
    if constexpr (all_there) (set(given), ...);
    for (index_t& s : size)
      if (s == dynamic) s = 1;
  }
  constexpr index_t operator[](int axis) const { return size[static_cast<std::size_t>(axis)]; }
  /// Ranks of the whole mesh.
  constexpr index_t ranks() const {
    index_t all = 1;
    for (index_t s : size) all *= s;
    return all;
  }

 private:
  template <class A> constexpr void set(const A& given) {
    const index_t n = detail::number_in(given);
    if (static_size<A> == dynamic ? n < 1 : n != static_size<A>)
      detail::refuse_size(detail::name_of<A>(), detail::name_of<M>(), n, static_size<A>);
    index_t& own = size[axis_index<M, A>];
    if (own != dynamic && own != n) detail::refuse_second_size(detail::name_of<A>(), own, n);
    own = n;
  }
};

}  // namespace dimesh

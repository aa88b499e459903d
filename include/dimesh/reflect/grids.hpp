// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the tensors of a struct live, if not all on one mesh? On several grids, which stand
// where one would.
//
//   make<model<dense, experts>>(grids(g, h))    -> each tensor on the grid of its mesh
#pragma once

#include <tuple>

#include "dimesh/grid.hpp"
#include "dimesh/reflect/leaves.hpp"
#include "dimesh/shaped.hpp"

namespace dimesh {

namespace detail {
/// The mesh of a grid, or of sizes.
template <class Where> struct mesh_of_where {};
template <Mesh M> struct mesh_of_where<grid<M>> {
  using type = M;
};
template <Mesh M> struct mesh_of_where<mesh_sizes<M>> {
  using type = M;
};
}  // namespace detail

/// Grids of several meshes (or their sizes), for structs whose tensors live on more than one:
/// make<model<dense, experts>>(grids(g, h), length{7}). One of each mesh; they must outlive it.
template <class... Where> class grids {
 public:
  using meshes = detail::list<typename detail::mesh_of_where<Where>::type...>;
  constexpr explicit grids(const Where&... where) : at_(&where...) {}
  /// That of mesh M, which is among them.
  template <Mesh M> constexpr const auto& of() const {
    return *std::get<static_cast<std::size_t>(detail::index_of<M, meshes>)>(at_);
  }

 private:
  std::tuple<const Where*...> at_;
};

namespace detail {
/// Where a tensor or a struct can be: on a grid, or as a shape on the sizes of a mesh.
template <class Where> inline constexpr bool is_where = is_poison<Where>;
template <class M> inline constexpr bool is_where<grid<M>> = true;
template <class M> inline constexpr bool is_where<mesh_sizes<M>> = true;
template <class... W> inline constexpr bool is_where<grids<W...>> = true;

/// The grid (or sizes) of a mesh, where there are several, or the one that there is.
template <Mesh M, class Where> constexpr const auto& where_of(const Where& where) {
  if constexpr (requires { where.template of<M>(); })
    return where.template of<M>();
  else
    return where;
}
/// The first tensor on a mesh of which there is no grid.
template <class Where> struct meshes_of_where {
  using type = list<typename mesh_of_where<Where>::type>;
};
template <class... W> struct meshes_of_where<grids<W...>> {
  using type = typename grids<W...>::meshes;
};
template <class Leaves, class Meshes> struct where_fault;
template <class... X, class Meshes> struct where_fault<list<X...>, Meshes> {
  using type = typename first_of<
      std::conditional_t<(is_poison<X> || index_of<typename X::mesh_type, Meshes> >= 0), no_fault,
                         mesh_without_grid<typename X::mesh_type>>...>::type;
};
template <class S, class Where>
using where_fault_of =
    typename where_fault<typename leaves<S>::type, typename meshes_of_where<Where>::type>::type;

/// What can be made: tensors and structs of them, but no layout, dim or number.
template <class S> constexpr bool is_made() {
  if constexpr (Operand<S>)
    return true;
  else
    return std::is_class_v<S> && !is_layout<S> && !Dim<S> && !Axis<S> && !Mesh<S>;
}
template <class S, class... A> inline constexpr bool makes = false;
template <class S, class Where, class... E>
inline constexpr bool makes<S, Where, E...> =
    is_made<S>() && is_where<Where> && (Extents<E> && ...);

/// What a maker says that does not get what it takes.
template <class S, class... A>
using maker_fault = std::conditional_t<is_made<S>(), wrong_arguments<A...>, not_a_tensor<S>>;
/// What it gives then: its type where that is a type, so that one mistake is one error.
template <class S> constexpr auto nothing_made() {
  if constexpr (is_made<S>() && std::is_default_constructible_v<S>)
    return S{};
  else
    return poison{};
}
/// The same of one that makes one tensor, and no struct.
template <class X, class... A>
using filler_fault = std::conditional_t<Operand<X>, maker_fault<X, A...>, not_a_tensor<X>>;

}  // namespace detail

}  // namespace dimesh

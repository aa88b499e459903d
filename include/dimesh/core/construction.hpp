// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read who makes a tensor of numbers, as in other libraries, or on another grid? One
// sentence: a constructor that takes what the others do not.
//
//   tensor<float, L, batch> x(8);         -> wrong_arguments<int>: tensor: a grid stands first ...
//   tensor<float, L, batch> x(batch{8});  -> wrong_arguments<batch>
//   tensor<float, L, batch> x(g, 8);      -> wrong_arguments<grid<pod>, int>
//   tensor<float, L, batch> x(other);     -> meshes_differ<pod, other_mesh>
#pragma once

#include "dimesh/dim.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh::detail {

template <class Where> inline constexpr bool is_grid = false;
template <class M> inline constexpr bool is_grid<grid<M>> = true;

/// A number, a pointer, a dim or a grid, and not what a tensor of mesh M is made of; a grid alone
/// stands here where it is to be converted. (Other classes may be converted to a grid, say: they
/// are nobody's mistake.)
template <class M, class... A> inline constexpr bool makes_no_tensor = false;
template <class M, class First, class... A>
inline constexpr bool makes_no_tensor<M, First, A...> =
    std::is_scalar_v<First> || Dim<First> ||
    (is_grid<First> &&
     !(std::is_same_v<First, grid<M>> && sizeof...(A) > 0 && (std::is_class_v<A> && ...)));

template <class M, class... A> struct construction_fault {
  using type = wrong_arguments<A...>;
};
template <class M, class Other, class... A>
  requires(!std::is_same_v<M, Other>)
struct construction_fault<M, grid<Other>, A...> {
  using type = meshes_differ<M, Other>;
};

template <class M, class... A> constexpr void refuse_construction() {
  using fault = typename construction_fault<M, A...>::type;
  using alone =
      std::conditional_t<std::is_same_v<fault, wrong_arguments<grid<M>>>, fault, no_fault>;
  using others = std::conditional_t<ok<alone>, fault, no_fault>;
  static_assert(ok<alone>,
                "tensor: a grid is no tensor; write X(g) or zeros<X>(g), and of a struct of "
                "tensors make<network<L>>(g)");
  static_assert(ok<only<others, wrong_arguments>>,
                "tensor: a grid stands first, then extents that the type leaves open, with their "
                "dims: tensor<float, L, length>(grid, length{7})");
  static_assert(ok<only<fault, meshes_differ>>,
                "tensor: the grid is of another mesh than the layout; make a grid of the layout's "
                "mesh, or the layout one of the grid's");
}

}  // namespace dimesh::detail

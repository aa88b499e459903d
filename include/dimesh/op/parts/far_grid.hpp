// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where is the result of an operation that says so itself? On a grid, or on the sizes of a mesh:
// what `land` (core/operation.hpp) tells it.
//
//   far_grid::of(x).take(y)   -> y stands where x does
#pragma once

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/grid.hpp"

namespace dimesh::detail {

/// Where a result lives: on a grid, or on the sizes of a mesh.
struct far_grid {
  const void* object = nullptr;
  const grid_state* grid = nullptr;
  std::array<index_t, max_axes> sizes{};

  constexpr void take(tensor_core& y) const {
    y.grid_object = object;
    y.grid = grid;
    y.is_shape = grid == nullptr;
    if (y.is_shape) y.shape_sizes = sizes;
  }
  static constexpr far_grid of(const tensor_core& x) {
    return {x.grid_object, x.is_shape ? nullptr : x.grid, x.shape_sizes};
  }
  /// Where x lives; as sizes alone, if what is to live there is a shape.
  static constexpr far_grid of(const tensor_core& x, bool shaped) {
    far_grid l = of(x);
    if (!shaped || x.is_shape) return l;
    for (std::size_t a = 0; a < l.sizes.size(); ++a) l.sizes[a] = x.sizes()[a];
    l.object = nullptr, l.grid = nullptr;
    return l;
  }
  /// Of a tensor with data, or of a shape, which takes a grid for its sizes.
  template <Mesh M> static far_grid of(const dimesh::grid<M>& g, bool shaped) {
    if (!shaped) return {&g, &g.state(), {}};
    far_grid l;
    for (std::size_t a = 0; a < M::rank; ++a) l.sizes[a] = g.state().sizes()[a];
    return l;
  }
  template <Mesh M> static constexpr far_grid of(const mesh_sizes<M>& s, bool) {
    far_grid l;
    for (std::size_t a = 0; a < M::rank; ++a) l.sizes[a] = s.size[a];
    return l;
  }
};

}  // namespace dimesh::detail

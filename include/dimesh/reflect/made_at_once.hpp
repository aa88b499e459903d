// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are all tensors of a struct made on a grid, or copied? One after the other by a plain
// function, where their types say all that they need: no constructors are compiled for them.
//
//   made_at_once<network<L>>(g)   -> a network<L>, not yet filled
//   copied(params)                -> the same tensors, which share their elements
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/reflect/lengths.hpp"
#include "dimesh/reflect/places.hpp"

namespace dimesh::detail {

/// Do these tensors all live on one grid, under layouts that their types say?
template <class Leaves, class Where> inline constexpr bool lie_on = false;
template <class T, class L, class... D, class M>
inline constexpr bool lie_on<basic_tensor<T, L, D...>, grid<M>> =
    std::is_same_v<typename L::mesh, M> && !is_at_run_time<L>;
template <class... X, class M>
inline constexpr bool lie_on<list<X...>, grid<M>> = (lie_on<X, grid<M>> && ...);

template <class S, class Where> constexpr bool is_made_at_once() {
  if constexpr (Operand<S>)
    return false;
  else if constexpr (knows_places<S>())
    return lie_on<typename leaves<S>::type, Where>;
  else
    return false;
}

/// Throws dimesh::error, as constructors do, where a type leaves an extent open, or blocks do not
/// come out even.
void make_listed(tensor_core* const* to, int count, const void* grid_object, const grid_state& g);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void make_listed(tensor_core* const* to, int count, const void* grid_object,
                                       const grid_state& g) {
  for (int i = 0; i < count; ++i) {
    index_t extents[max_dims] = {};
    for (int d = 0; d < to[i]->rank(); ++d) extents[d] = to[i]->facts->dim[d]->extent;
    to[i]->make_on(grid_object, g, extents, {});
  }
}
#endif

template <class S, class M> S made_at_once(const grid<M>& g) {
  S s{};
  const core_list<S> all(s);
  make_listed(all.at, all.size, &g, g.state());
  return s;
}

DIMESH_OUTLINE constexpr void copy_cores(const tensor_core* const* from, tensor_core* const* to,
                                         int count) {
  for (int i = 0; i < count; ++i) *to[i] = *from[i];
}
/// Members that are no tensors come along.
template <class S> constexpr S copied(const S& s) {
  if constexpr (has_others<S> || !std::is_default_constructible_v<S>) {
    return s;
  } else {
    S to = in_form_of<S>(s);
    const core_list<S> from(s), all(to);
    copy_cores(from.at, all.at, all.size);
    return to;
  }
}

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a caller say which element type a result shall have? By naming it before the dims.
//
//   sum<batch>(x)            stated<batch>::type         -> void: what follows from x
//   sum<float, batch>(x)     stated<float, batch>::type  -> float;  ::dims -> list<batch>
#pragma once

#include "dimesh/detail/types.hpp"
#include "dimesh/dim.hpp"
#include "dimesh/element/bfloat16.hpp"

namespace dimesh::detail {

template <class D> concept DimOrReal = Dim<D> || is_real<D>;

template <class... D> struct stated {
  using type = void;
  using dims = list<D...>;
  static constexpr bool in_order = (Dim<D> && ...);
};
template <class T, class... D>
  requires is_real<T>
struct stated<T, D...> {
  using type = T;
  using dims = list<D...>;
  static constexpr bool in_order = (Dim<D> && ...);
};

/// Dims, and perhaps one element type before them.
template <class... D> concept DimsAfterType = stated<D...>::in_order;

}  // namespace dimesh::detail

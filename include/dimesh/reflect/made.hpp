// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be made on a grid, and what does a maker say and give that does not get what it takes?
//
//   makes<network<L>, grid<pod>>  -> true
//   maker_fault<batch, grid<pod>>  -> not_a_tensor<batch>
#pragma once

#include "dimesh/reflect/grids.hpp"

namespace dimesh::detail {

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

}  // namespace dimesh::detail

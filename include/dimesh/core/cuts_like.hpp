// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tables of cuts get into a tensor that is made? They stand among its extents.
//
//   X(g, x.shape(), cuts_like(core_of(x)))      // blocks as x has them, where they are ragged
#pragma once

#include <concepts>

#include "dimesh/core/tensor_core.hpp"

namespace dimesh::detail {

/// Cuts that stand among extents go to a tensor.
template <class E>
concept HoldsCuts = requires(const E& e) {
  { e.list() } -> std::same_as<const cut_list&>;
};
template <class E> constexpr void take_cuts(tensor_core& x, const E& from) {
  if constexpr (HoldsCuts<E>) x.cuts.add_all(from.list());
}
/// All that stand among extents.
template <class... E> cut_list cuts_among(const E&... extents) {
  cut_list all;
  [[maybe_unused]] const auto take = [&all](const auto& e) {
    if constexpr (HoldsCuts<std::remove_cvref_t<decltype(e)>>) all.add_all(e.list());
  };
  (take(extents), ...);
  return all;
}
/// The cuts of another tensor, to stand among extents.
struct cuts_like {
  using dims = detail::list<>;
  const cut_list& all;
  constexpr explicit cuts_like(const tensor_core& x) : all(x.cuts) {}
  constexpr const cut_list& list() const { return all; }
};

}  // namespace dimesh::detail

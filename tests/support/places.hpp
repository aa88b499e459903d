// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the whole numbers come from that an operation takes beside real tensors? They are made
// inside the function under test, from its first operand's grid: with data, or as a shape.
//
//   const auto ids = places_beside<L, r>(x, r{5}, f)   // ids[i] = f(i), under layout L
#pragma once

#include <cstdint>

#include "dimesh/core/tracked.hpp"
#include "dimesh/create.hpp"
#include "dimesh/plan/runtime_tensor.hpp"

namespace test_support {

template <class L, dimesh::Dim... D, class X, class F, class... E>
constexpr auto places_beside(const X& x, F f, const E&... extents) {
  const auto& v = dimesh::detail::untracked(x);
  using V = std::remove_cvref_t<decltype(v)>;
  if constexpr (dimesh::detail::is_shaped<V>) {
    using Y = typename dimesh::detail::shaped_type<dimesh::tensor<std::int32_t, L, D...>>::type;
    const dimesh::shape<D...> size(extents...);
    dimesh::detail::tally* const t = dimesh::detail::core_of(v).count;
    if constexpr (dimesh::detail::is_at_run_time<typename dimesh::spec_of<Y>::layout>)
      return Y(v.sizes(), size, t, &dimesh::detail::facts_now<dimesh::spec_of<Y>>());
    else
      return Y(v.sizes(), size, t);
  } else {
    return dimesh::generate<dimesh::tensor<std::int32_t, L, D...>>(v.grid(), f, extents...);
  }
}

}  // namespace test_support

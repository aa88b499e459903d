// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is an operation that moves blocks the adjoint of its transpose, and does it cost what it says? As
// check_operation asks, except that ranks with short or empty blocks may send more, or make fewer
// calls, than the rank at the origin, for which costs are foreseen.
//
//   check_movement([](const auto& x) { return all_gather<rows>(x); }, a, x)
//   bytes_leaving(x, y, place)   // of this rank's x[i], those whose place(i) in y is not here
#pragma once

#include "support/adjoint.hpp"

namespace test_support {

/// Checks the adjoint on all ranks, and the cost on the rank at the origin. Collective.
template <class F, class X> void check_movement(const F& f, const array& a, const X& x) {
  for (const bool once : {false, true}) {
    const operation_report r = run_adjoint(f, once, 1, {a}, x);
    INFO("cotangents held whole: ", once);
    CHECK(r.tangent == r.cotangent);
    if (x.grid().rank() != 0) continue;
    CHECK(r.forward == "");
    CHECK(r.backward == "");
  }
}

/// Bytes of this rank's block of x that y, cut along the same axes, has on other ranks: by the
/// definition of blocks, element by element. place(i): where element i of x is in y; nowhere where
/// a coordinate is none of y's.
template <class X, class Y>
index_t bytes_leaving(const X& x, const Y& y, const std::function<extents(const extents&)>& place) {
  const detail::holding from = detail::holding_of(x), to = detail::holding_of(y);
  index_t bytes = 0;
  detail::for_each_element(from, [&](std::size_t, const extents& index) {
    const extents at = place(index);
    bool there = true, stays = !detail::is_away(to);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const dimesh::block b = detail::block_of(to, d);
      there = there && at[d] >= 0 && at[d] < to.whole.size[d];
      stays = stays && at[d] >= b.offset && at[d] < b.offset + b.length;
    }
    if (there && !stays) bytes += from.element_bytes;
  });
  return bytes;
}

}  // namespace test_support

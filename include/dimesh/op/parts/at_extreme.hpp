// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What has a tensor where another one is greatest, or smallest? The gradient of max and min goes to
// the first of equals, and nowhere else; the transpose picks what stands there.
#pragma once

#include <algorithm>

#include "dimesh/core/pullback.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/statistics.hpp"
#include "dimesh/op/parts/loop_plan.hpp"

namespace dimesh::detail {

/// From x and what lies as x, to what lies as its extremes; Back: the other way, zero elsewhere.
template <class T, class Join, bool Back> struct at_extreme_op {
  static constexpr bool on_host = true;
  std::string_view call = std::is_same_v<Join, local::greatest> ? "max" : "min";

  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(x[0].elements(), y[0].bytes() + bytes_of(x));
  }
  void fill(results y, operands in) const {
    const writes_memory kernel;
    const tensor_core &x = in[0], &extremes = Back ? in[1] : y[0];
    const index_t n = extremes.elements();
    const storage places = storage::acquire(static_cast<std::size_t>(n) * sizeof(index_t));
    auto* const at = static_cast<index_t*>(places.data());
    local::extreme_places<Join>(loops_over(loop_dims(x), extremes, x), x.data<const T>(), at, n);
    const T* const from = in[1].data<const T>();
    T* const to = y[0].data<T>();
    if (Back) std::fill_n(to, y[0].elements(), T(0));
    for (index_t o = 0; o < n; ++o) {
      if (Back && at[o] >= 0) to[at[o]] = from[o];
      if (!Back) to[o] = at[o] >= 0 ? from[at[o]] : T(0);
    }
  }
  static constexpr bool needs(int k, unsigned) { return k == 0; }
  constexpr void transpose(const auto& to) const {
    to.give(1, at_extreme_op<T, Join, !Back>{call}, to.x(0), to.ybar);
  }
};

}  // namespace dimesh::detail

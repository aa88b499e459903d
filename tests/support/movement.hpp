// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is an operation that moves blocks the adjoint of its transpose, and does it cost what it says? As
// check_operation asks, except that ranks with short or empty blocks may send more, or make fewer
// calls, than the rank at the origin, for which costs are foreseen.
//
//   check_movement([](const auto& x) { return all_gather<rows>(x); }, a, x)
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

}  // namespace test_support

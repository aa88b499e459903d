// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/all_gather.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using deep = X<float, L<dm::split<batch, cols, rows>>, batch, hidden>;
constexpr auto over_rows = [](const auto& v) { return dm::all_gather<rows>(v); };

static_assert(
    is_same_v<decltype(over_rows(deep{})), X<float, L<dm::split<batch, cols>>, batch, hidden>>);
static_assert(
    is_same_v<decltype(dm::all_gather<cols>(over_rows(deep{}))), X<float, L<>, batch, hidden>>);
// Addends along other axes stay addends.
static_assert(
    is_same_v<decltype(over_rows(X<float, L<dm::split<batch, rows>, dm::partial<cols>>, batch>{})),
              X<float, L<dm::partial<cols>>, batch>>);
static_assert(is_same_v<decltype(over_rows(dm::poison{})), dm::poison>);

static_assert(bytes(over_rows, deep{}) == 12 * 4);
static_assert(ring_bytes(over_rows, deep{}) == 12 * 4);
static_assert(cost_of_call(over_rows, deep{}).bytes<cols>() == 0);

template <class A, class V> using fault = dm::detail::fault_of<dm::detail::all_gather_rule<A>, V>;
static_assert(is_same_v<fault<cols, deep>, dm::axis_not_innermost_of_dim<batch, cols>>);
static_assert(is_same_v<fault<lone, deep>, dm::axis_splits_nothing<lone>>);
static_assert(is_same_v<fault<alien, deep>, dm::axis_not_in_mesh<alien, pod>>);
static_assert(is_same_v<fault<rows, X<float, L<dm::split<dm::halo<batch, 1>, rows>>, batch>>,
                        dm::dim_has_halo<batch>>);

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/whole.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using deep = X<float, L<dm::split<batch, cols, rows>>, batch, hidden>;
constexpr auto all_of_batch = [](const auto& v) { return dm::whole<batch>(v); };

static_assert(is_same_v<decltype(all_of_batch(deep{})), X<float, L<>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::whole<hidden>(deep{})), deep>);
static_assert(is_same_v<decltype(all_of_batch(dm::poison{})), dm::poison>);
// One call over both axes: each rank hands over its own block.
static_assert(calls(all_of_batch, deep{}) == 1 && bytes(all_of_batch, deep{}) == 12 * 4);
static_assert(ring_bytes(all_of_batch, deep{}) == 7 * 12 * 4);
static_assert(cost_of_call(all_of_batch, deep{}).exactly<rows, cols>().calls == 1);

template <class D, class V> using fault = dm::detail::fault_of<dm::detail::whole_rule<D>, V>;
static_assert(is_same_v<fault<label, deep>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<batch, X<float, L<dm::split<dm::halo<batch, 1>, rows>>, batch>>,
                        dm::dim_has_halo<batch>>);

}  // namespace

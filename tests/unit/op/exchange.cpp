// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/exchange.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, rows, cols>>, batch, hidden>;
using swapped = L<dm::split<batch, cols, rows>>;
constexpr auto swap = [](const auto& v) { return dm::exchange<swapped>(v); };

static_assert(is_same_v<decltype(swap(V{})), X<float, swapped, batch, hidden>>);
static_assert(is_same_v<decltype(dm::exchange<L<dm::split<hidden, rows>>>(V{})),
                        X<float, L<dm::split<hidden, rows>>, batch, hidden>>);
static_assert(
    is_same_v<decltype(dm::exchange<L<dm::split<batch, rows, cols>, dm::split<label, lone>>>(V{})),
              V>);
static_assert(is_same_v<decltype(swap(dm::poison{})), dm::poison>);
// The origin keeps its only row, since it is the first in either order.
static_assert(bytes(swap, V{}) == 0 && calls(swap, V{}) == 1);
// Everything to everybody: own block to seven others.
static_assert(bytes([](const auto& v) { return dm::exchange<L<>>(v); }, V{}) == 7 * 12 * 4);
// From copies: each receiver asks one copy, so the origin gives its half to three others at most.
using copies = X<float, L<dm::split<batch, rows>>, batch, hidden>;
static_assert(ring_bytes([](const auto& v) { return dm::exchange<L<dm::split<hidden, rows>>>(v); },
                         copies{}) == 4 * 6 * 4);

template <class La, class W>
using fault = dm::detail::fault_of<dm::detail::goal_rule<La, false>, W>;
struct other : dm::mesh<rows> {};
static_assert(is_same_v<fault<dm::layout<other>, V>, dm::meshes_differ<other, pod>>);
static_assert(
    is_same_v<fault<L<>, X<float, L<dm::partial<cols>>, batch>>, dm::partial_operand<cols>>);
static_assert(is_same_v<fault<L<dm::partial<lone>>, V>, dm::axis_not_partial<lone>>);
static_assert(is_same_v<fault<L<dm::split<dm::halo<batch, 1>>>, V>, dm::dim_has_halo<batch>>);
static_assert(is_same_v<fault<L<dm::split<label, cols>>, X<float, L<>, label>>,
                        dm::extent_not_divisible<label, 5, cols, 4>>);

}  // namespace

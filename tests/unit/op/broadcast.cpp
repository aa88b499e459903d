// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/broadcast.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, rows>>, batch, hidden>;
constexpr auto from_0 = [](const auto& v) { return dm::broadcast<cols>(v); };
constexpr auto from_1 = [](const auto& v) { return dm::broadcast<cols>(v, 1); };

static_assert(is_same_v<decltype(from_0(V{})), V>);
static_assert(is_same_v<decltype(from_0(dm::poison{})), dm::poison>);
// The origin hands over what it is the root of.
static_assert(bytes(from_0, V{}) == 4 * 12 * 4 && bytes(from_1, V{}) == 0 &&
              calls(from_1, V{}) == 1);
static_assert(calls([](const auto& v) { return dm::broadcast<lone>(v); }, V{}) == 0);

template <class A, class W> using fault = dm::detail::fault_of<dm::detail::broadcast_rule<A>, W>;
static_assert(is_same_v<fault<rows, V>, dm::axis_not_replicated<rows>>);
static_assert(
    is_same_v<fault<cols, X<float, L<dm::partial<cols>>, batch>>, dm::axis_not_replicated<cols>>);
static_assert(is_same_v<fault<alien, V>, dm::axis_not_in_mesh<alien, pod>>);

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/complete.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, rows>, dm::partial<cols>>, batch, hidden>;
constexpr auto complete = [](const auto& v) { return dm::complete(v); };

static_assert(
    is_same_v<decltype(complete(V{})), X<float, L<dm::split<batch, rows>>, batch, hidden>>);
static_assert(is_same_v<decltype(complete(X<float, L<>, batch>{})), X<float, L<>, batch>>);
static_assert(is_same_v<decltype(complete(
                            X<float, L<dm::partial_max<rows>, dm::partial_min<cols>>, batch>{})),
                        X<float, L<>, batch>>);
static_assert(is_same_v<decltype(complete(dm::poison{})), dm::poison>);

static_assert(calls(complete, V{}) == 1 && bytes(complete, V{}) == 4 * 12 * 4);
static_assert(
    calls(complete,
          X<float, L<dm::partial<rows>, dm::partial<cols>, dm::partial<lone>>, batch>{}) == 1);
static_assert(calls(complete, X<float, L<dm::split<batch, rows>>, batch>{}) == 0);
static_assert(calls(complete, X<float, L<dm::partial<lone>>, batch>{}) == 0);

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/all_to_all.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, cols>>, batch, hidden>;
constexpr auto move = [](const auto& v) { return dm::all_to_all<batch, hidden, cols>(v); };

static_assert(is_same_v<decltype(move(V{})), X<float, L<dm::split<hidden, cols>>, batch, hidden>>);
static_assert(
    is_same_v<decltype(move(X<float, L<dm::split<batch, rows, cols>>, batch, hidden>{})),
              X<float, L<dm::split<batch, rows>, dm::split<hidden, cols>>, batch, hidden>>);
static_assert(is_same_v<decltype(move(dm::poison{})), dm::poison>);

// Three quarters of the block leave: the own part stays.
static_assert(bytes(move, V{}) == 2 * 12 * 4 * 3 / 4 && ring_bytes(move, V{}) == bytes(move, V{}));

template <class F, class T, class A, class W>
using fault = dm::detail::fault_of<dm::detail::all_to_all_rule<F, T, A>, W>;
static_assert(is_same_v<fault<hidden, batch, cols, V>, dm::axis_splits_nothing<cols>>);
static_assert(is_same_v<fault<label, batch, cols, V>, dm::dim_not_in_tensor<label>>);
static_assert(
    is_same_v<fault<batch, hidden, rows, X<float, L<dm::split<batch, rows, cols>>, batch, hidden>>,
              dm::axis_not_innermost_of_dim<batch, rows>>);
static_assert(
    is_same_v<fault<batch, label, cols, X<float, L<dm::split<batch, cols>>, batch, label>>,
              dm::extent_not_divisible<label, 5, cols, 4>>);

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/shift.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, cols>>, batch, hidden>;
constexpr auto by_1 = [](const auto& v) { return dm::shift<batch>(v, 1); };
constexpr auto delayed = [](const auto& v) { return dm::shift<batch>(v, -1, dm::boundary::zero); };

static_assert(is_same_v<decltype(by_1(V{})), V>);
static_assert(is_same_v<decltype(by_1(dm::poison{})), dm::poison>);
// One row leaves for the next rank; the origin has nobody before it, except around the end.
static_assert(bytes(by_1, V{}) == 12 * 4 && calls(by_1, V{}) == 1);
static_assert(calls(delayed, V{}) == 0);
static_assert(calls([](const auto& v) { return dm::shift<hidden>(v, 5); }, V{}) == 0);
// Whole blocks and a remainder: three rows go to two ranks.
static_assert(calls([](const auto& v) { return dm::shift<batch>(v, 3); }, V{}) == 2);

template <class D, class W> using fault = dm::detail::fault_of<dm::detail::shift_rule<D>, W>;
static_assert(is_same_v<fault<label, V>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<batch, X<float, L<dm::split<dm::halo<batch, 1>>>, batch>>,
                        dm::dim_has_halo<batch>>);

}  // namespace

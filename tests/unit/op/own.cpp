// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/own.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using whole = X<float, L<>, batch, hidden>;
constexpr auto cut = [](const auto& v) { return dm::own<hidden, rows>(v); };

static_assert(
    is_same_v<decltype(cut(whole{})), X<float, L<dm::split<hidden, rows>>, batch, hidden>>);
static_assert(
    is_same_v<decltype(dm::own<batch, rows>(X<float, L<dm::split<batch, cols>>, batch>{})),
              X<float, L<dm::split<batch, cols, rows>>, batch>>);
static_assert(is_same_v<decltype(dm::own<dm::uneven<label>, cols>(X<float, L<>, label>{})),
                        X<float, L<dm::split<dm::uneven<label>, cols>>, label>>);
static_assert(is_same_v<decltype(dm::own<batch, rows>(dm::poison{})), dm::poison>);
static_assert(calls(cut, whole{}) == 0);

template <class D, class A, class V>
using fault = dm::detail::fault_of<dm::detail::scatter_rule<D, A, dm::use::replicated>, V>;
static_assert(is_same_v<fault<batch, rows, X<float, L<dm::split<batch, rows>>, batch>>,
                        dm::axis_not_replicated<rows>>);
static_assert(is_same_v<fault<label, rows, whole>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<label, rows, X<float, L<>, label>>,
                        dm::extent_not_divisible<label, 5, rows, 2>>);

}  // namespace

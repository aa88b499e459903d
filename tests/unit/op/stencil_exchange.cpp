// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/stencil_exchange.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using H =
    X<float, L<dm::split<dm::halo<batch, 1>, cols>, dm::split<dm::halo<hidden, 2>>>, batch, hidden>;
using C = X<float, L<>, hidden>;
constexpr auto f = [](const auto& u) { return dm::at<batch, hidden>(u, -1, 2) - dm::at<>(u); };
using B = X<dm::bfloat16, L<dm::split<dm::halo<batch, 1>>, dm::split<dm::halo<hidden, 2>>>, batch,
            hidden>;
static_assert(is_same_v<decltype(dm::stencil_exchange(f, dm::boundary::zero, B{})), B>);
constexpr auto g = [](const auto& u, const auto& c) { return dm::at<batch>(u, 1) * dm::at<>(c); };
constexpr auto step = [](const auto& u) { return dm::stencil_exchange(f, dm::boundary::zero, u); };

static_assert(is_same_v<decltype(step(H{})), H>);
static_assert(is_same_v<decltype(dm::stencil_exchange(g, dm::boundary::zero, H{}, C{})), H>);
static_assert(is_same_v<decltype(step(dm::poison{})), dm::poison>);
// One row goes to the next rank, with room for its halo along hidden, which comes later.
static_assert(calls(step, H{}) == 1 && bytes(step, H{}) == 12 * 4);

template <class... W> using fault = typename dm::detail::stencil_exchange_fault<W...>::type;
static_assert(
    is_same_v<fault<H, X<float, L<dm::partial<rows>>, hidden>>, dm::partial_operand<rows>>);
using narrow = X<float, L<dm::split<dm::halo<batch, 1>, cols>>, batch>;
static_assert(is_same_v<fault<narrow, C>, dm::dim_not_in_tensor<hidden>>);

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/stencil.hpp"

#include "dimesh/op/parts/look_fault.hpp"
#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using H =
    X<float, L<dm::split<dm::halo<batch, 1>, cols>, dm::split<dm::halo<hidden, 2>>>, batch, hidden>;
using C = X<float, L<>, hidden>;
constexpr auto f = [](const auto& u) { return dm::at<batch, hidden>(u, -1, 2) - dm::at<>(u); };
constexpr auto g = [](const auto& u, const auto& c) { return dm::at<batch>(u, 1) * dm::at<>(c); };

static_assert(
    is_same_v<decltype(dm::stencil(f, H{})), X<float, L<dm::split<batch, cols>>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::stencil(g, H{}, C{})),
                        X<float, L<dm::split<batch, cols>>, batch, hidden>>);
using B = X<dm::bfloat16, L<dm::split<dm::halo<batch, 1>>, dm::split<dm::halo<hidden, 2>>>, batch,
            hidden>;  // computed in float, kept as it was
static_assert(is_same_v<decltype(dm::stencil(f, B{})), X<dm::bfloat16, L<>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::stencil(g, B{}, C{})), X<float, L<>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::stencil(f, dm::poison{})), dm::poison>);
static_assert(calls([](const auto& v) { return dm::stencil(f, v); }, H{}) == 0);

template <class... W> using fault = typename dm::detail::stencil_fault<W...>::type;
static_assert(is_same_v<fault<X<float, L<dm::partial<cols>>, batch>>, dm::partial_operand<cols>>);
static_assert(
    is_same_v<fault<H, X<float, L<>, batch>>, dm::dim_split_in_one_operand_only<batch, cols>>);
template <class W, class D>
using reach = typename dm::detail::at_fault<dm::detail::seen_of<dm::spec_of<W>>, D>::type;
static_assert(is_same_v<reach<C, hidden>, dm::dim_has_no_halo<hidden>>);
static_assert(is_same_v<reach<C, batch>, dm::dim_not_in_tensor<batch>>);
template <class W, class... D>
using first = typename dm::detail::look_fault<dm::detail::seen_of<dm::spec_of<W>>, D...>::type;
static_assert(is_same_v<first<H, batch, hidden>, dm::no_fault>);
static_assert(is_same_v<first<C, hidden, batch>, dm::dim_has_no_halo<hidden>>);
static_assert(is_same_v<first<C, batch, hidden>, dm::dim_not_in_tensor<batch>>);

}  // namespace

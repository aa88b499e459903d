// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/reduce_scatter.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using addends = X<float, L<dm::partial<cols>>, batch, hidden>;
constexpr auto to_batch = [](const auto& v) { return dm::reduce_scatter<batch, cols>(v); };

static_assert(
    is_same_v<decltype(to_batch(addends{})), X<float, L<dm::split<batch, cols>>, batch, hidden>>);
static_assert(
    is_same_v<decltype(to_batch(X<float, L<dm::split<batch, rows>, dm::partial<cols>>, batch>{})),
              X<float, L<dm::split<batch, rows, cols>>, batch>>);
static_assert(is_same_v<decltype(dm::reduce_scatter<dm::uneven<label>, cols>(
                            X<float, L<dm::partial<cols>>, label>{})),
                        X<float, L<dm::split<dm::uneven<label>, cols>>, label>>);
// What divides evenly is not uneven.
static_assert(is_same_v<decltype(dm::reduce_scatter<dm::uneven<batch>, cols>(addends{})),
                        decltype(to_batch(addends{}))>);
static_assert(is_same_v<decltype(dm::reduce_scatter<batch, cols>(dm::poison{})), dm::poison>);

static_assert(bytes(to_batch, addends{}) == 8 * 12 * 4);
static_assert(ring_bytes(to_batch, addends{}) == 8 * 12 * 4 * 3 / 4);

template <class D, class A, class V>
using fault = dm::detail::fault_of<dm::detail::scatter_rule<D, A, dm::use::partial>, V>;
static_assert(is_same_v<fault<batch, rows, addends>, dm::axis_not_partial<rows>>);
static_assert(is_same_v<fault<batch, alien, addends>, dm::axis_not_in_mesh<alien, pod>>);
static_assert(is_same_v<fault<label, cols, addends>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<label, cols, X<float, L<dm::partial<cols>>, label>>,
                        dm::extent_not_divisible<label, 5, cols, 4>>);

}  // namespace

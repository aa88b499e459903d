// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/all_reduce.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using addends = X<float, L<dm::partial<rows>, dm::partial<cols>>, batch, hidden>;
constexpr auto over_cols = [](const auto& v) { return dm::all_reduce<cols>(v); };
constexpr auto over_both = [](const auto& v) { return dm::all_reduce<rows, cols>(v); };

static_assert(
    is_same_v<decltype(over_cols(addends{})), X<float, L<dm::partial<rows>>, batch, hidden>>);
static_assert(is_same_v<decltype(over_both(addends{})), X<float, L<>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::all_reduce<cols>(
                            X<int, L<dm::split<batch, rows>, dm::partial<cols>>, batch>{})),
                        X<int, L<dm::split<batch, rows>>, batch>>);
static_assert(is_same_v<decltype(dm::all_reduce<cols>(dm::poison{})), dm::poison>);

// One call; payload is the tensor, a ring sends it nearly twice.
static_assert(calls(over_both, addends{}) == 1);
static_assert(bytes(over_both, addends{}) == 8 * 12 * 4);
static_assert(ring_bytes(over_cols, addends{}) == 2 * 3 * 8 * 12 * 4 / 4);
static_assert(cost_of_call(over_cols, addends{}).bytes<rows>() == 0);
// An axis of one rank has nobody to talk to; nor has a value that counts once.
static_assert(calls([](const auto& v) { return dm::all_reduce<lone>(v); },
                    X<float, L<dm::partial<lone>>, batch>{}) == 0);
constexpr auto once = [](auto v) {
  v.set_once(0b010);
  return dm::all_reduce<cols>(v);
};
static_assert(calls(once, X<float, L<dm::partial<cols>>, batch>{}) == 0);

template <class V, class... A>
using fault = dm::detail::fault_of<dm::detail::all_reduce_rule<A...>, V>;
static_assert(is_same_v<fault<addends, rows, alien>, dm::axis_not_in_mesh<alien, pod>>);
static_assert(is_same_v<fault<addends, rows, lone>, dm::axis_not_partial<lone>>);
static_assert(
    is_same_v<fault<X<float, L<dm::partial_max<rows>>, batch>, rows>, dm::axis_not_partial<rows>>);

}  // namespace

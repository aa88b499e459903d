// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/halo_exchange.hpp"

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using V = X<float, L<dm::split<batch, cols>>, batch, hidden>;
constexpr auto one = [](const auto& v) { return dm::halo_exchange<1, batch>(v); };
constexpr auto ring = [](const auto& v) {
  return dm::halo_exchange<1, batch>(v, dm::boundary::periodic);
};

static_assert(
    is_same_v<decltype(one(V{})), X<float, L<dm::split<dm::halo<batch, 1>, cols>>, batch, hidden>>);
static_assert(
    is_same_v<decltype(dm::halo_exchange<2, hidden>(V{})),
              X<float, L<dm::split<batch, cols>, dm::split<dm::halo<hidden, 2>>>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::halo_exchange<1, hidden>(one(V{}))),
                        decltype(dm::halo_exchange<1, batch, hidden>(V{}))>);
static_assert(is_same_v<decltype(one(dm::poison{})), dm::poison>);
static_assert(one(V{}).local<batch>() == 2 + 2 &&
              dm::halo_exchange<2, hidden>(V{}).local<hidden>() == 12 + 4);

// The surface; the first rank has one neighbour, on a ring two.
static_assert(bytes(one, V{}) == 12 * 4 && bytes(ring, V{}) == 2 * 12 * 4);
// Two hops, where the halo is wider than a block.
static_assert(calls([](const auto& v) { return dm::halo_exchange<3, batch>(v); }, V{}) == 2);
static_assert(calls([](const auto& v) { return dm::halo_exchange<3, hidden>(v); }, V{}) == 0);

template <class W, class... D>
using fault = dm::detail::fault_of<dm::detail::halo_exchange_rule<dm::halo<D, 1>...>, W>;
static_assert(is_same_v<fault<V, batch, label>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<decltype(one(V{})), hidden, batch>, dm::dim_has_halo<batch>>);

// One side alone: half the surface, on the side that is wanted.
constexpr auto before = [](const auto& v) { return dm::halo_exchange<dm::halo<batch, 1, 0>>(v); };
constexpr auto after = [](const auto& v) {
  return dm::halo_exchange<dm::halo<batch, 0, 3>, dm::halo<hidden, 1, 2>>(v);
};
static_assert(is_same_v<decltype(before(V{})),
                        X<float, L<dm::split<dm::halo<batch, 1, 0>, cols>>, batch, hidden>>);
static_assert(is_same_v<decltype(dm::halo_exchange<dm::halo<batch, 1>>(V{})), decltype(one(V{}))>);
static_assert(
    is_same_v<decltype(after(V{})),
              X<float, L<dm::split<dm::halo<batch, 0, 3>, cols>, dm::split<dm::halo<hidden, 1, 2>>>,
                batch, hidden>>);
static_assert(before(V{}).local<batch>() == 2 + 1 && after(V{}).local<batch>() == 2 + 3 &&
              after(V{}).local<hidden>() == 12 + 3);
// The first rank gives its last row to the next one; to nobody where halos lie behind blocks.
static_assert(bytes(before, V{}) == 12 * 4 && bytes(after, V{}) == 0);
static_assert(is_same_v<dm::detail::fault_of<dm::detail::halo_exchange_rule<dm::halo<batch, 2, 0>>,
                                             decltype(before(V{}))>,
                        dm::dim_has_halo<batch>>);

}  // namespace

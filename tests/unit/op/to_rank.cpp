// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/to_rank.hpp"

#include <doctest/doctest.h>

#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

static_assert(is_same_v<decltype(dm::to_rank(dm::poison{})), dm::poison>);
static_assert(is_same_v<decltype(dm::broadcast_element(dm::poison{}, std::array<dm::index_t, 1>{})),
                        dm::poison>);
using V = dm::tensor<double, L<dm::split<batch, rows>, dm::partial<cols>>, batch, hidden>;
static_assert(is_same_v<decltype(dm::to_rank(std::declval<V>())), dm::rank_values<double>>);
static_assert(std::is_base_of_v<std::vector<double>, dm::rank_values<double>>);
static_assert(is_same_v<decltype(dm::broadcast_element(std::declval<V>(), {1, 2})), double>);

/// The owner of an element and its place there, against blocks counted out by hand.
TEST_CASE("an element's owner and its place in the block") {
  const X<float, L<dm::split<dm::uneven<label>, cols>, dm::split<batch, rows>>, batch, label> x;
  for (dm::index_t i = 0; i < 8; ++i)
    for (dm::index_t j = 0; j < 5; ++j) {
      const dm::index_t at[] = {i, j};
      const dm::detail::owner who(dm::detail::core_of(x), at);
      CHECK(who.coords[0] == i / 4);
      CHECK(who.coords[1] == j / 2);
      const dm::index_t length = j < 4 ? 2 : 1;
      CHECK(who.offset == i % 4 * length + j % 2);
    }
}

}  // namespace

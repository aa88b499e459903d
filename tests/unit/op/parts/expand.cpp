// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/parts/expand.hpp"

#include <doctest/doctest.h>

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class La, class... D> using X = dm::tensor<float, dm::shaped<La>, D...>;

// What was summed was split by rows: its sum partial over rows, the cotangent of that replicated.
using ybar = X<L<dm::partial<cols>>, hidden>;
using xbar = X<L<dm::split<batch, rows>, dm::partial<cols>>, batch, hidden>;
constexpr auto expanded = [] {
  return dm::detail::apply_as<dm::spec_of<xbar>>(dm::detail::expand_op<float>{}, ybar{});
};
static_assert(std::is_same_v<decltype(expanded()), xbar>);

}  // namespace

TEST_CASE("expand: as many elements as were summed, moved once") {
  dm::detail::tally t;
  const auto y = dm::detail::apply_as<dm::spec_of<xbar>>(dm::detail::expand_op<float>{},
                                                         ybar{}.counted_by(&t));
  CHECK(y.local_size() == 4 * 6);
  CHECK(t.moved == 4 * (4 * 6 + 6));
  CHECK(t.flops == 0);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/create.hpp"

#include <doctest/doctest.h>

#include <type_traits>

namespace {

namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct length : dm::dim<> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
using by_rows = dm::layout<pod, dm::split<batch, rows>, dm::split<length, cols>>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, batch>, b),
                           (std::array<dm::tensor<double, L, batch, length>, 2>, w));
};

// Shapes of a whole struct are made while compiling.
constexpr auto shapes = [] {
  return dm::make<network<dm::shaped<by_rows>>>(dm::mesh_sizes<pod>{cols{3}}, length{9})
      .w[1]
      .local_size();
}();
static_assert(shapes == 4 * 3);
static_assert(dm::zeros<dm::tensor<float, dm::shaped<by_rows>, length>>(
                  dm::mesh_sizes<pod>{cols{3}}, length{9})
                  .local_size() == 3);
constexpr dm::index_t again() {
  const auto a = dm::make<network<dm::shaped<by_rows>>>(dm::mesh_sizes<pod>{cols{3}}, length{9});
  return dm::zeros_like(a).w[0].extent<length>() + dm::empty_like(a.b).local_size();
}
static_assert(again() == 9 + 4);

}  // namespace

TEST_CASE("make: shapes take run-time extents and axis sizes") {
  const auto s = dm::make<network<dm::shaped<by_rows>>>(dm::mesh_sizes<pod>{cols{2}}, length{10});
  CHECK(s.b.local_size() == 4);
  CHECK(s.w[0].local<length>() == 5);
  CHECK_THROWS_AS(dm::make<network<dm::shaped<by_rows>>>(dm::mesh_sizes<pod>{cols{3}}, length{10}),
                  dm::error);
}

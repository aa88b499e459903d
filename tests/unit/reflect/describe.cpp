// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/reflect/describe.hpp"

#include <doctest/doctest.h>

namespace {

namespace dm = dimesh;

struct batch : dm::dim<256> {};
struct label : dm::dim<10> {};
struct length : dm::dim<> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<> {};
struct deep : dm::axis<4> {};
struct pod : dm::mesh<rows, cols, deep> {};

}  // namespace

TEST_CASE("describe: a type, as far as it is known before the run") {
  using L = dm::layout<pod, dm::split<batch, rows>, dm::split<length, deep, cols>>;
  CHECK(dm::describe<dm::tensor<float, L, batch, length>>() ==
        "float[batch=256/rows:2, length/deep:4*cols]");
  CHECK(dm::describe<dm::tensor<double, L, label>>() == "double[label=10]");
  CHECK(dm::describe<dm::tensor<int, L>>() == "int[]");
  CHECK(dm::describe<dm::tensor<float, dm::gradient<L>, batch>>() ==
        "float[batch=256/rows:2] partial<cols> partial<deep>");
}

TEST_CASE("describe: uneven blocks, halos, extremes yet to be found") {
  using U = dm::layout<pod, dm::split<dm::uneven<label>, deep>, dm::partial_max<rows>,
                       dm::partial_min<cols>>;
  CHECK(dm::describe<dm::tensor<float, U, label>>() ==
        "float[label=10/deep:4 uneven] partial_max<rows> partial_min<cols>");
  using H = dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>;
  CHECK(dm::describe<dm::tensor<float, H, batch>>() == "float[batch=256/rows:2 halo 1]");
  using O = dm::layout<pod, dm::split<dm::halo<batch, 0, 3>, rows>>;
  CHECK(dm::describe<dm::tensor<float, O, batch>>() ==
        "float[batch=256/rows:2 halo 0 before and 3 after]");
}

TEST_CASE("describe: a tensor, with the extents and sizes it has") {
  using L = dm::layout<pod, dm::split<length, deep, cols>>;
  const dm::tensor<float, dm::shaped<L>, length> x(dm::mesh_sizes<pod>{cols{3}}, length{24});
  CHECK(dm::describe(x) == "float[length=24/deep:4*cols:3]");
}

TEST_CASE("facts_of: refuses extents that are missing or do not come out even") {
  using L = dm::layout<pod, dm::split<length, deep>>;
  using T = dm::tensor<float, L, length>;
  const dm::mesh_sizes<pod> sizes{cols{3}};
  CHECK(dm::facts_of<T>(sizes, length{8}).extent == std::vector<dm::index_t>{8});
  CHECK_THROWS_AS(dm::facts_of<T>(sizes), dm::error);
  CHECK_THROWS_AS(dm::facts_of<T>(sizes, length{7}), dm::error);
}

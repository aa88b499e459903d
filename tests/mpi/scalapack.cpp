// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors of blocks: does ScaLAPACK's own arithmetic find each element where the tensor has it?
// ranks: 1 2 4
// labels: device
#include "dimesh/interop/scalapack.hpp"

#include <doctest/doctest.h>

#include "support/host.hpp"
#include "support/laws.hpp"
#include "support/scratch.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

using tiles = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<q>, y>>;
using matrix = dm::tensor<double, tiles, p, q>;
static_assert(dm::is_scalapack_matrix<matrix>);
static_assert(!dm::is_scalapack_matrix<dm::tensor<double, tiles, q, p>>);
static_assert(!dm::is_scalapack_matrix<dm::tensor<double, tiles, p>>);
static_assert(!dm::is_scalapack_matrix<dm::tensor<double, dm::layout<plane>, p, q>>);

/// Users' Guide, section 4.3.2: which process has entry i (from 0), and where.
struct entry {
  index_t process, local;
};
entry place_of(index_t i, index_t block, index_t processes) {
  return {i / block % processes, i / block / processes * block + i % block};
}

TEST_CASE("extents beyond ScaLAPACK's integers") {
  CHECK(dm::detail::scalapack_int(7) == 7);
  CHECK(thrown([] { (void)dm::detail::scalapack_int(dm::index_t{1} << 40); }) ==
        "scalapack_descriptor: 1099511627776 is more than ScaLAPACK's integers hold");
}

TEST_CASE("each element of the transpose is where the descriptor says") {
  for (const extents& size : {extents{4, 6}, {5, 3}, {1, 7}, {0, 3}, {9, 2}})
    for_each_grid<plane>([&](const dm::grid<plane>& g) {
      const array a = numbers({"p", "q"}, size, 1);
      const auto v = scattered<matrix>(g, a);
      const dm::array_descriptor d = dm::scalapack_descriptor(v, 17);
      CHECK(d[0] == 1);
      CHECK(d[1] == 17);
      CHECK(d[2] == size[1]);
      CHECK(d[3] == size[0]);
      const index_t across = g.state().sizes()[1], down = g.state().sizes()[0];
      index_t mine = 0;
      for (index_t j = 0; j < size[0]; ++j)  // columns of the transpose
        for (index_t i = 0; i < size[1]; ++i) {
          const entry r = place_of(i, d[4], across), c = place_of(j, d[5], down);
          if (r.process != g.state().coords()[1] || c.process != g.state().coords()[0]) continue;
          ++mine;
          CHECK(test_support::on_host(v)[c.local * d[8] + r.local] == value_at(a, a.dims, {j, i}));
        }
      CHECK(mine == v.local_size());
      dm::require_scalapack(v, d);
      dm::array_descriptor other = d;
      other[5] += 1;
      CHECK(thrown([&] { dm::require_scalapack(v, other); }).find("require_scalapack: NB_ is ") ==
            0);
    });
}
}  // namespace

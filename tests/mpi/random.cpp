// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// checks: 12 23 23 34
#include "dimesh/random.hpp"

#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "support/layouts.hpp"
#include "support/oracle.hpp"

namespace dm = dimesh;
namespace ts = test_support;
using ts::p;
using ts::plane;
using ts::q;

TEST_CASE("random tensors: the same bits under every layout") {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::random_key key = dm::random_key{99}.fold(4);
  ts::for_each_layout<plane, dm::detail::list<p, q>, ts::unevenly>([&](auto t) {
    using L = typename decltype(t)::type;
    ts::for_each_sizes<plane>(ranks, [&](const auto& sizes) {
      const dm::grid<plane> g(ts::x{sizes[0]}, ts::y{sizes[1]});
      const auto x = dm::uniform<dm::tensor<float, L, p, q>>(g, key, -2, 2, p{7}, q{5});
      const auto n = dm::normal<dm::tensor<double, L, p, q>>(g, key, 1, 0.5, p{7}, q{5});
      dm::index_t wrong = 0;
      ts::detail::for_each_element(
          ts::detail::holding_of(x), [&](std::size_t at, const ts::extents& i) {
            const dm::index_t place = i[0] * 5 + i[1];  // in the whole tensor, row-major
            wrong += x.data()[at] != -2 + 4 * dm::uniform_at<float>(key, place);
            wrong += n.data()[at] != 1 + 0.5 * dm::normal_at<double>(key, place);
          });
      CHECK(wrong == 0);
    });
  });
}

TEST_CASE("random tensors: partial layouts count each number once") {
  const dm::grid<ts::line> g;
  using L = dm::layout<ts::line, dm::partial<ts::x>>;
  const dm::random_key key{5};
  const auto x = dm::uniform<dm::tensor<double, L, p>>(g, key, 0, 1, p{9});
  double mine = 0, all = 0, want = 0;
  for (dm::index_t k = 0; k < x.local_size(); ++k) mine += x.data()[k];
  for (dm::index_t k = 0; k < 9; ++k) want += dm::uniform_at<double>(key, k);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == want);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
#include "dimesh/core/known_blocks.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/place.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;

using by_p = dm::layout<line, dm::split<dm::uneven<p>, x>>;
using by_q = dm::layout<line, dm::split<dm::uneven<q>, x>>;
using matrix = dm::tensor<double, by_p, p, q>;

TEST_CASE("layouts, extents and grids take turns: each result has its own blocks") {
  const dm::grid<line> g, h;
  for (int turn = 0; turn < 3; ++turn)
    for (const index_t n : {7, 12, 3})
      for (const dm::grid<line>* on : {&g, &h}) {
        const array a = numbers({"p", "q"}, {n, 5}, n);
        const auto v = scattered<matrix>(*on, a);
        CHECK(agrees(dm::exchange<by_q>(v), a));
        CHECK(agrees(dm::whole<p>(v), a));
        CHECK(agrees(dm::exchange<by_p>(dm::exchange<by_q>(v)), a));
      }
}

TEST_CASE("places take turns with all: each rank knows again whether it is there") {
  const dm::grid<line> g;
  for (int turn = 0; turn < 3; ++turn)
    for (const index_t n : {6, 2}) {
      const array a = numbers({"p", "q"}, {n, 5}, n);
      const auto v = scattered<dm::tensor<double, dm::layout<line>, p, q>>(g, a);
      const auto here = dm::place<x, 0>(v);
      CHECK((here.local_size() == 0) == (g.coord<x>() != 0));
      CHECK(agrees(dm::broadcast<x>(here), a));
    }
}

TEST_CASE("blocks are known once they were worked out: of these types, extents and this grid") {
  const dm::grid<line> g, h;
  const auto v = scattered<matrix>(g, numbers({"p", "q"}, {9, 4}, 1));
  const auto y = dm::exchange<by_q>(v);
  const auto is_known = [&](const matrix& of) {
    dm::detail::tensor_core fresh(dm::detail::core_of(y).facts);
    if (!dm::detail::recall_blocks(fresh, dm::detail::core_of(of))) return false;
    for (int d = 0; d < 2; ++d) {
      CHECK(fresh.extent(d) == dm::detail::core_of(y).extent(d));
      CHECK(fresh.own(d).offset == dm::detail::core_of(y).own(d).offset);
      CHECK(fresh.own(d).length == dm::detail::core_of(y).own(d).length);
    }
    return true;
  };
  CHECK(is_known(v));
  CHECK_FALSE(is_known(scattered<matrix>(g, numbers({"p", "q"}, {8, 4}, 1))));
  CHECK_FALSE(is_known(scattered<matrix>(h, numbers({"p", "q"}, {9, 4}, 1))));
}

}  // namespace

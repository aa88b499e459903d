// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
#include "dimesh/core/known_blocks.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/place.hpp"
#include "dimesh/op/relayout_across.hpp"
#include "dimesh/op/shift.hpp"
#include "dimesh/op/start.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::index_t;

using by_p = dm::layout<line, dm::split<dm::uneven<p>, x>>;
using by_q = dm::layout<line, dm::split<dm::uneven<q>, x>>;
using matrix = dm::tensor<double, by_p, p, q>;
struct other_x : dm::axis<> {};
struct other : dm::mesh<other_x> {};
using there_by_p = dm::layout<other, dm::split<dm::uneven<p>, other_x>>;
using there_by_q = dm::layout<other, dm::split<dm::uneven<q>, other_x>>;

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
    fresh.stand_with(dm::detail::core_of(of));
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

TEST_CASE("the same operand with other parameters in turn: each call has its own plan") {
  const dm::grid<line> g;
  const array a = numbers({"p", "q"}, {11, 4}, 3);
  const auto v = scattered<matrix>(g, a);
  index_t made = 0;
  for (int turn = 0; turn < 4; ++turn) {
    for (const index_t by : {1, 2, 1, -3}) {
      const auto y = dm::shift<p>(v, by);
      const auto back = dm::await(dm::start_shift<p>(y, -by));
      CHECK(agrees(back, a));
      CHECK(agrees(dm::shift<p>(back, 11), a));
    }
    CHECK(agrees(dm::await(dm::start_exchange<by_q>(v)), a));
    CHECK(agrees(dm::exchange<by_q>(v), a));
    if (turn == 1) made = dm::detail::plans_made();
  }
  CHECK(dm::detail::plans_made() == made);
}

TEST_CASE("addends in turn with a value that counts once") {
  const dm::grid<line> g;
  using addends = dm::tensor<double, dm::layout<line, dm::partial<x>>, p>;
  const array a{{"p"}, {6}, {1, 2, 3, 4, 5, 6}}, twice{{"p"}, {6}, {2, 4, 6, 8, 10, 12}};
  const auto each = scattered<addends>(g, a);
  const auto once = dm::from_rank<addends>(g, {1, 2, 3, 4, 5, 6}, p{6});
  REQUIRE(once.once() == 1);
  for (int turn = 0; turn < 3; ++turn)
    for (const addends* of : {&each, &once}) {
      CHECK(agrees(dm::reduce_scatter<dm::uneven<p>, x>(*of), a));
      const auto sum = *of + *of;
      CHECK(sum.once() == of->once());
      CHECK(agrees(dm::all_reduce<x>(sum), twice));
      CHECK(agrees(dm::all_reduce<x>(-(*of + -(*of + *of))), a));
    }
}

TEST_CASE("two grids of another mesh in turn: each result lives where it was sent") {
  const dm::grid<line> g;
  const dm::grid<other> h, k;
  const array a = numbers({"p", "q"}, {8, 12}, 5);
  const auto v = scattered<matrix>(g, a);
  for (int turn = 0; turn < 3; ++turn)
    for (const dm::grid<other>* to : {&h, &k}) {
      const auto y = dm::relayout<there_by_q>(v, *to);
      CHECK(&y.grid() == to);
      CHECK(agrees(y, a));
      const auto z = dm::await(dm::start_relayout<by_p>(y, g));
      CHECK(&z.grid() == &g);
      CHECK(agrees(z, a));
      const auto same = dm::relayout<there_by_p>(v, *to);
      CHECK(&same.grid() == to);
      CHECK(agrees(same, a));
    }
}

TEST_CASE("to places of another mesh in turn: the others hold nothing, whatever they held") {
  using there = dm::layout<other, dm::placed<other_x, 0>>;
  const dm::grid<line> g;
  const dm::grid<other> h;
  for (int turn = 0; turn < 3; ++turn) {
    const array a = numbers({"p", "q"}, {8, 12}, turn);
    auto v = scattered<dm::tensor<double, dm::layout<line>, p, q>>(g, a);
    const auto y = dm::relayout<there>(v, h);
    const bool is_there = h.coord<other_x>() == 0;
    CHECK(bool(dm::detail::core_of(y).memory) == is_there);
    if (!is_there) CHECK(dm::detail::core_of(v).memory.alone());
    CHECK(agrees(dm::relayout<dm::layout<line>>(y, g), a));
  }
}

}  // namespace

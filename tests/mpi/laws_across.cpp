// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
// checks: 2420 9680 21780
// relayout between two meshes of the same ranks, from every layout of one to every layout of the
// other: the values, and that every rank is sent what it lacks and nothing else.
#include "dimesh/op/relayout_across.hpp"

#include <doctest/doctest.h>

#include <census.hpp>

#include "support/laws.hpp"

namespace {
using namespace test_support;
using dimesh::grid;

struct u : dimesh::axis<> {};
struct v : dimesh::axis<> {};
struct other : dimesh::mesh<u, v> {};

/// Elements of this rank's new block that it lacks.
template <class Y, class X> index_t lacking(const X& x, const Y& y) {
  const auto a = dimesh::detail::placement_of(x), b = dimesh::detail::placement_of(y);
  const auto had = a.own(dimesh::spec_of<X>::table), wanted = b.own(dimesh::spec_of<Y>::table);
  return wanted.size() - intersection(had, wanted).size();
}
index_t over_all(index_t n) {
  const test_support::detail::unobserved quietly;
  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return n;
}

const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 2}, {1, 7}};
TEST_CASE("from any layout of one mesh to any of another, what lacks and nothing else; and back") {
  for_each_case<plane, unevenly, p, q>(sizes, [](auto x, const array& a) {
    using X = decltype(x);
    for_each_grid<other>([&](const grid<other>& g) {
      for_each_layout<other, dimesh::detail::list<p, q>, unevenly>([&](auto t) {
        using L = typename decltype(t)::type;
        INFO("to ", std::string(dimesh::detail::spelled<L>()));
        census::reset();
        const auto y = dimesh::relayout<L>(x, g);
        const auto seen = census::snapshot();
        CHECK(&y.grid() == &g);
        CHECK(agrees(y, a));
        const index_t lacked = over_all(lacking(x, y));
        CHECK(over_all(seen.bytes()) == lacked * index_t(sizeof(double)));
        CHECK(seen.calls() == (lacked > 0 ? 1 : 0));
        CHECK(agrees(dimesh::relayout<typename X::layout_type>(y, x.grid()), a));
      });
    });
  });
}

}  // namespace

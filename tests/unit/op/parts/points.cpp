// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/parts/points.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/shuffled.hpp"

using namespace dimesh_test;
using dimesh::index_t;
using dimesh::detail::point_box;

namespace {

struct p : dimesh::dim<> {};
struct q : dimesh::dim<> {};
struct r : dimesh::dim<> {};
struct ranks : dimesh::axis<1> {};
struct line : dimesh::mesh<ranks> {};

template <class... D> point_box box_of(const std::vector<index_t>& extent) {
  using S = dimesh::detail::make_spec<float, dimesh::layout<line>, D...>;
  const index_t sizes[] = {1};
  dimesh::detail::tensor_core x(&dimesh::detail::spec_facts<S>);
  x.make_shape(sizes, extent.data(), nullptr);
  return point_box(x);
}

/// Adds a number of each point to the place of the point's kept coordinates: sums that depend on
/// their order.
struct sums {
  int rank;
  unsigned kept;
  const point_box* box;
  std::vector<float>* to;

  void operator()(const index_t* at, index_t m, index_t from, index_t to_end) const {
    for (index_t i = 0; i < m; ++i)
      for (index_t j = from; j < to_end; ++j) {
        index_t place = 0, number = 0;
        for (int d = 0; d < rank; ++d) {
          const index_t c = d == rank - 1 ? j : d == rank - 2 ? at[d] + i : at[d];
          number = number * 11 + c;
          if ((kept >> d & 1u) != 0) place = place * box->end[d] + c;
        }
        (*to)[static_cast<std::size_t>(place)] += 1.0f / static_cast<float>(number + 1);
      }
  }
};

void check(int rank, const point_box& box) {
  for (unsigned kept = 0; kept < 1u << rank; ++kept) {
    index_t size = 1, elements = 1, shared = 1;
    for (int d = 0; d < rank; ++d) {
      (kept >> d & 1u ? elements : shared) *= box.extent(d);
      if ((kept >> d & 1u) != 0) size *= box.end[d];
    }
    const auto run = [&](const auto& with) {
      std::vector<float> to(static_cast<std::size_t>(size));
      with(sums{rank, kept, &box, &to});
      return to;
    };
    const auto want = run([&](const sums& s) { dimesh::detail::walk_rows(box, s); });
    CHECK(run([&](const sums& s) { dimesh::detail::for_each_row<Kokkos::Serial>(box, kept, s); }) ==
          want);
    CHECK(run([&](const sums& s) { dimesh::detail::for_each_row<reversed>(box, kept, s); }) ==
          want);
    CHECK(run([&](const sums& s) { dimesh::detail::for_each_row<threaded>(box, kept, s); }) ==
          want);
    // As a device does: an element for itself, in any order.
    CHECK(run([&](const sums& s) {
            const dimesh::detail::each_kept<sums> one{s, box, kept, shared};
            for (index_t e = elements; e-- > 0;) one(e);
          }) == want);
  }
}

/// Without the first elements of each dim, and the last one.
point_box inside(point_box box) {
  for (int d = 0; d < box.rank; ++d) box.begin[d] = d + 1, box.end[d] -= 1;
  return box;
}

}  // namespace

TEST_CASE("points: each once, with the same sums in any pieces") {
  check(0, box_of<>({}));
  for (const index_t n : {0, 1, 2, 9}) {
    check(1, box_of<p>({n}));
    check(2, box_of<p, q>({n, 5}));
    check(2, box_of<p, q>({4, n}));
    check(3, box_of<p, q, r>({n, 3, 7}));
    check(3, box_of<p, q, r>({2, n, 3}));
    check(3, box_of<p, q, r>({7, 2, n}));
  }
}

TEST_CASE("points: parts of a block, likewise") {
  check(1, inside(box_of<p>({9})));
  check(2, inside(box_of<p, q>({4, 9})));
  check(2, inside(box_of<p, q>({9, 5})));
  check(3, inside(box_of<p, q, r>({4, 9, 7})));
  check(3, inside(box_of<p, q, r>({8, 5, 12})));
}

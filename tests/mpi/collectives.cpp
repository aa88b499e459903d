// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// checks: 2183 4326 4326 6483 8647 8668
// labels: device
#include "dimesh/op/all_gather.hpp"
#include "dimesh/op/all_reduce.hpp"
#include "dimesh/op/all_to_all.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/own.hpp"
#include "dimesh/op/reduce_scatter.hpp"
#include "dimesh/op/whole.hpp"

#include <doctest/doctest.h>

#include "support/host.hpp"
#include "support/movement.hpp"

namespace {
using namespace test_support;
using dimesh::spec_of;
using dimesh::uneven;
using dimesh::use;

/// Extents that axes divide and do not, none, one, and fewer than ranks.
const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 2}, {1, 7}};

template <class A, use U>
constexpr auto does = [](const auto& t) { return t.axis[dimesh::axis_index<plane, A>].what == U; };
/// The dim whose blocks A cuts last, -1 if there is none.
template <class A, int D>
constexpr auto cuts = [](const auto& t) {
  const auto u = t.axis[dimesh::axis_index<plane, A>];
  return u.what == use::split && u.level + 1 == t.split_count(u.dim) && (D < 0 || u.dim == D);
};

TEST_CASE("all_reduce, reduce_scatter: addends become the sum, whole or split") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto all, const array& a) {
    where<does<x, use::partial>>(all, [&](const auto& v) {
      CHECK(agrees(dimesh::all_reduce<x>(v), a));
      CHECK(agrees(dimesh::reduce_scatter<uneven<p>, x>(v), a));
      CHECK(agrees(dimesh::reduce_scatter<uneven<q>, x>(v), a));
      check_movement([](const auto& t) { return dimesh::all_reduce<x>(t); }, a, v);
      check_movement([](const auto& t) { return dimesh::reduce_scatter<uneven<q>, x>(t); }, a, v);
    });
  });
}

TEST_CASE("own: every rank keeps its block") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto all, const array& a) {
    where<does<y, use::replicated>>(all, [&](const auto& v) {
      CHECK(agrees(dimesh::own<uneven<p>, y>(v), a));
      CHECK(agrees(dimesh::own<uneven<q>, y>(v), a));
      check_movement([](const auto& t) { return dimesh::own<uneven<q>, y>(t); }, a, v);
    });
  });
}

TEST_CASE("all_gather, all_to_all: blocks become whole, or blocks of another dim") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto all, const array& a) {
    where<cuts<x, -1>>(all, [&](const auto& v) {
      CHECK(agrees(dimesh::all_gather<x>(v), a));
      check_movement([](const auto& t) { return dimesh::all_gather<x>(t); }, a, v);
    });
    where<cuts<x, 0>>(all, [&](const auto& v) {
      CHECK(agrees(dimesh::all_to_all<p, uneven<q>, x>(v), a));
      check_movement([](const auto& t) { return dimesh::all_to_all<p, uneven<q>, x>(t); }, a, v);
    });
    where<cuts<x, 1>>(
        all, [&](const auto& v) { CHECK(agrees(dimesh::all_to_all<q, uneven<p>, x>(v), a)); });
  });
}

TEST_CASE("even blocks take the calls without counts") {
  for_all_cases<plane, evenly, p, q>({{24, 48}, {0, 24}}, [](auto v, const array& a) {
    CHECK(agrees(dimesh::whole<p>(v), a));
    CHECK(agrees(dimesh::whole<q>(v), a));
    where<cuts<y, 1>>(v, [&](const auto& w) {
      const auto moved = dimesh::all_to_all<q, p, y>(w);
      CHECK(agrees(moved, a));
      CHECK(agrees(dimesh::all_to_all<p, q, y>(moved), a));
    });
  });
}

TEST_CASE("equal parts that lie in the order of ranks go by the dense call, others by counts") {
  for_each_grid<line>([](const dimesh::grid<line>& g) {
    const index_t ranks = g.size<x>();
    const auto dense = [&](index_t rows, index_t columns) {
      using L = dimesh::layout<line, dimesh::split<uneven<p>, x>>;
      const array a = numbers({"p", "q", "r"}, {rows, columns, 5}, 1);
      const auto v = scattered<dimesh::tensor<double, L, p, q, r>>(g, a);
      const auto before = census::dense_all_to_alls();
      CHECK(agrees(dimesh::all_to_all<p, uneven<q>, x>(v), a));
      return census::dense_all_to_alls() - before;
    };
    CHECK(dense(ranks, ranks) == (ranks > 1));
    CHECK(dense(2 * ranks, ranks) == 0);  // strided
    CHECK(dense(ranks + 1, ranks) == 0);
    CHECK(dense(ranks, ranks + 1) == 0);
  });
}

TEST_CASE("complete, whole: whatever is to be done, or nothing") {
  for_all_cases<plane, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    const auto done = dimesh::complete(v);
    CHECK(agrees(done, a));
    where_not_partial(v, [&](const auto& w) { CHECK(done.data() == w.data()); });
    check_movement([](const auto& t) { return dimesh::complete(t); }, a, v);
    CHECK(agrees(dimesh::whole<p>(v), a));
    CHECK(agrees(dimesh::whole<q>(v), a));
    check_movement([](const auto& t) { return dimesh::whole<q>(t); }, a, v);
  });
}

TEST_CASE("complete takes one call for all axes together") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    const array a = numbers({"p", "q"}, {3, 2}, 1);
    using X =
        dimesh::tensor<double, dimesh::layout<plane, dimesh::partial<x>, dimesh::partial<y>>, p, q>;
    const X v = scattered<X>(g, a);
    const auto first = dimesh::complete(v);
    census::reset();
    CHECK(agrees(dimesh::complete(v), a));
    CHECK(census::snapshot().calls() == (g.ranks() > 1 ? 1 : 0));
    using M =
        dimesh::tensor<double,
                       dimesh::layout<plane, dimesh::partial_max<x>, dimesh::partial_max<y>>, p, q>;
    CHECK(agrees(dimesh::complete(scattered<M>(g, a)), a));
    using N = dimesh::tensor<double, dimesh::layout<plane, dimesh::partial_min<y>>, p, q>;
    CHECK(agrees(dimesh::complete(scattered<N>(g, a)), a));
  });
}

TEST_CASE("broadcast: the value of one coordinate") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    using X = dimesh::tensor<double, dimesh::layout<plane, dimesh::split<uneven<p>, x>>, p, q>;
    const array a = numbers({"p", "q"}, {5, 2}, 1);
    for (int root = 0; root < g.size<y>(); ++root) {
      X v = scattered<X>(g, a);
      for (index_t k = 0; k < v.local_size(); ++k)
        if (g.coord<y>() != root) test_support::on_host(v)[k] = -77;
      CHECK(agrees(dimesh::broadcast<y>(v, root), a));
      check_movement([=](const auto& t) { return dimesh::broadcast<y>(t, root); }, a,
                     scattered<X>(g, a));
    }
    CHECK_THROWS_AS(dimesh::broadcast<y>(scattered<X>(g, a), static_cast<int>(g.size<y>())),
                    dimesh::error);
  });
}

TEST_CASE("messages and sums for one rank, in pieces that MPI can count") {
  const dimesh::grid<line> g;
  const auto& all = g.everyone();
  const int n = all.size(), last = n - 1;
  std::vector<int> from(10), to(10, -1);
  for (int i = 0; i < 10; ++i) from[static_cast<std::size_t>(i)] = i + 100 * all.rank();
  dimesh::collective::send(all, from.data(), to.data(), 10, 0, last, 3);
  for (int i = 0; i < 10; ++i)
    CHECK(to[static_cast<std::size_t>(i)] == (all.rank() == last ? i : -1));
  to.assign(10, -1);
  dimesh::collective::reduce(all, from.data(), to.data(), 10, last, 4);
  for (int i = 0; i < 10; ++i)
    CHECK(to[static_cast<std::size_t>(i)] ==
          (all.rank() == last ? n * i + 100 * (n * (n - 1) / 2) : -1));
}

TEST_CASE("every element type travels") {
  for_each_grid<line>([](const dimesh::grid<line>& g) {
    for_each_type<float, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t>(
        [&](auto t) {
          using T = typename decltype(t)::type;
          const array a =
              make({"p"}, {6}, [](const extents& i) { return static_cast<double>(i[0]); });
          using S = dimesh::tensor<T, dimesh::layout<line, dimesh::split<uneven<p>, x>>, p>;
          CHECK(agrees(dimesh::whole<p>(scattered<S>(g, a)), a));
          using P = dimesh::tensor<T, dimesh::layout<line, dimesh::partial<x>>, p>;
          CHECK(agrees(dimesh::complete(scattered<P>(g, a)), a));
          CHECK(agrees(dimesh::reduce_scatter<uneven<p>, x>(scattered<P>(g, a)), a));
        });
    const array bits =
        make({"p"}, {6}, [](const extents& i) { return static_cast<double>(i[0] % 2); });
    using B = dimesh::tensor<bool, dimesh::layout<line, dimesh::split<uneven<p>, x>>, p>;
    CHECK(agrees(dimesh::whole<p>(scattered<B>(g, bits)), bits));
  });
}

}  // namespace

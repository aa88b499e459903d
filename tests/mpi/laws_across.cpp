// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
// checks: 8873 35254 87452
// relayout between two meshes of the same ranks, from every layout of one to every layout of the
// other: the values, and that every rank is sent what it lacks and nothing else; of addends, places
// and blocks of any lengths the way back, too, and that both cost what is foreseen.
#include "dimesh/op/relayout_across.hpp"

#include <doctest/doctest.h>

#include <census.hpp>

#include "dimesh/op/cuts.hpp"
#include "dimesh/op/start.hpp"
#include "support/adjoint.hpp"

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

// Addends, and places on either mesh. Layouts are values; of types, two are met on either side.
constexpr layout_choice anything{.partial = true, .uneven = true, .places = 2};
constexpr layout_choice placed{.uneven = true, .places = 2};
constexpr layout_choice every_second{.partial = true, .uneven = true, .places = 2, .stride = 2};
constexpr layout_choice some_placed{.uneven = true, .places = 2, .stride = 5};
constexpr layout_choice ragged{.partial = true, .ragged = true, .places = 2};
constexpr layout_choice ragged_placed{.ragged = true, .places = 2, .stride = 3};
using dims = dimesh::detail::list<p, q>;

/// Calls f(tag<L>) for each layout of the other mesh that x may go to, as a value where its own is.
template <layout_choice Choice, class X, class F>
void for_each_goal(const grid<other>& g, const extents& size, const F& f) {
  const auto to = [&](auto t) {
    using L = typename decltype(t)::type;
    if (!comes_out_even<dimesh::spec_of<dimesh::tensor<double, L, p, q>>>(g, size)) return;
    INFO("to ", std::string(dimesh::detail::spelled<L>()));
    f(t);
  };
  constexpr int count = layout_count<other, dims, Choice>;
  constexpr layout_choice two{.uneven = true, .places = 2, .stride = count / 2, .first = count / 3};
  if constexpr (dimesh::detail::is_probe<X>)
    for_each_layout_value<other, dims, Choice>(to);
  else
    for_each_layout<other, dims, two>(to);
}
template <class L, class X> void check_values(const X& x, const grid<other>& g, const array& a) {
  const auto y = dimesh::relayout<L>(x, g);
  CHECK(&y.grid() == &g);
  CHECK(agrees(y, a));
  CHECK(agrees(dimesh::await(dimesh::start_relayout<L>(x, g)), a));
  if (dimesh::detail::core_of(x).layout().any_partial()) return;
  CHECK(agrees(dimesh::relayout<typename X::layout_type>(y, x.grid()), a));
}

TEST_CASE("from addends and places to places: values, and back") {
  for_all_cases<plane, anything, p, q>({{5, 6}}, [](auto x, const array& a) {
    for_each_grid<other>([&](const grid<other>& g) {
      for_each_goal<placed, decltype(x)>(
          g, a.size, [&](auto t) { check_values<typename decltype(t)::type>(x, g, a); });
    });
  });
}

TEST_CASE("from addends and places to places: the way back, and what both cost") {
  for_all_cases<plane, every_second, p, q>({{4, 6}, {0, 2}}, [](auto x, const array& a) {
    for_each_grid<other>([&](const grid<other>& g) {
      for_each_goal<some_placed, decltype(x)>(g, a.size, [&](auto t) {
        using L = typename decltype(t)::type;
        const auto f = [&](const auto& z) { return dimesh::relayout<L>(z, g); };
        check_operation(f, {}, {a}, x);
        CHECK(costs_as_foreseen(f, x));
      });
    });
  });
}

TEST_CASE("from a mesh of one axis: values, the way back, and what both cost") {
  for_all_cases<line, anything, p, q>({{4, 6}, {5, 3}}, [](auto x, const array& a) {
    for_each_grid<other>([&](const grid<other>& g) {
      for_each_goal<placed, decltype(x)>(g, a.size, [&](auto t) {
        using L = typename decltype(t)::type;
        check_values<L>(x, g, a);
        const auto f = [&](const auto& z) { return dimesh::relayout<L>(z, g); };
        check_operation(f, {}, {a}, x);
        CHECK(costs_as_foreseen(f, x));
      });
    });
  });
}

/// n elements in a block for each rank, of which the first is empty.
template <class D> dimesh::cuts<D> cut_up(index_t n, int ranks) {
  std::vector<double> weight;
  for (int i = 0; i < ranks; ++i) weight.push_back(ranks == 1 ? 1 : i);
  return dimesh::cuts_by_speed<D>(n, weight);
}

TEST_CASE("blocks of any lengths, addends and places: values, the way back and the cost") {
  const array a = numbers({"p", "q"}, {7, 5}, 1);
  for_each_grid<plane>([&](const grid<plane>& h) {
    const auto ranks = static_cast<int>(h.everyone().size());
    const auto cut_p = cut_up<p>(7, ranks);
    const auto cut_q = cut_up<q>(5, ranks);
    const auto from = [&](auto here) {
      using X = dimesh::tensor<double, typename decltype(here)::type, p, q>;
      if (!comes_out_even<dimesh::spec_of<X>>(h, a.size)) return;
      const auto x =
          dimesh::with_cuts(dimesh::with_cuts(scattered<X>(h, a, cut_p, cut_q), cut_p), cut_q);
      for_each_grid<other>([&](const grid<other>& g) {
        if (g.template size<u>() > g.template size<v>()) return;
        for_each_goal<ragged_placed, X>(g, a.size, [&](auto t) {
          using L = typename decltype(t)::type;
          check_values<L>(x, g, a);
          const auto f = [&](const auto& z) { return dimesh::relayout<L>(z, g); };
          const operation_report r = run_adjoint(f, 0, 1, {a}, x);
          CHECK(std::abs(r.tangent - r.cotangent) <= 1e-12 * std::max(1.0, std::abs(r.tangent)));
          CHECK(r.forward == "");
          CHECK(r.backward == "");
          CHECK(costs_as_foreseen(f, x));
        });
      });
    };
    for_each_layout_value<plane, dims, ragged>(from);
    for_each_layout_value<plane, dims, every_second>(from);
  });
}

}  // namespace

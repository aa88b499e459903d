// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: local sanitize device
// Rows of a table in every layout of table and places: values, transposes, no communication; and
// places outside the table.
#include "dimesh/op/take.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

#ifdef DIMESH_CHECKED
[[maybe_unused]] const bool as_in_plain_builds = (dm::detail::checks_places = false);
#endif
/// -1 .. 5
struct place_of_row {
  KOKKOS_FUNCTION constexpr index_t operator()(index_t i) const { return (i * 5 + 2) % 7 - 1; }
};
constexpr place_of_row place_at;

/// Row place_at(i) of a, or zeros.
array rows(const array& a, index_t count, const names& order) {
  const index_t n = a.size[0], width = a.size[1];
  const array out = make({"r", "q"}, {count, width}, [&](const extents& at) {
    const index_t row = place_at(at[0]);
    return row < 0 || row >= n ? 0.0 : a.values[static_cast<std::size_t>(row * width + at[1])];
  });
  return transpose(order, out);
}

template <class L, class T = double> struct look_up {
  index_t count;
  template <class X> auto operator()(const X& table) const {
    return dm::take<p>(table, places_beside<L, r>(table, place_at, r{count}));
  }
};

template <class L, class Grid> void check_take(const Grid& g, const extents& n) {
  const array a = numbers({"p", "q"}, {n[0], n[1]}, 1);
  const auto table = scattered<dm::tensor<double, L, p, q>>(g, a);
  const look_up<L> f{n[2]};
  CHECK(agrees(f(table), rows(a, n[2], {"r", "q"})));
  check_operation(f, {}, {a}, table);
}

TEST_CASE("rows of a table in the layouts of a plane") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q, r>,
                    layout_choice{.uneven = true, .orders = false}>(
        [&](auto t) { check_take<typename decltype(t)::type>(g, {5, 4, 6}); });
  });
}

TEST_CASE("tables stored the other way round, empty ones, no places") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for_each_layout<line, dm::detail::list<p, q, r>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{0, 3, 4}, extents{4, 0, 2}, extents{3, 2, 0}})
        check_take<L>(g, n);
      const array a = numbers({"q", "p"}, {3, 5}, 2);
      const auto table = scattered<dm::tensor<double, L, q, p>>(g, a);
      CHECK(agrees(look_up<L>{7}(table), rows(transpose({"p", "q"}, a), 7, {"r", "q"})));
      check_operation(look_up<L>{7}, {}, {a}, table);
    });
  });
}

TEST_CASE("a table of addends") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const array a = numbers({"p", "q"}, {5, 4}, 1);
    const auto table = scattered<dm::tensor<double, dm::layout<line, dm::partial<x>>, p, q>>(g, a);
    CHECK(agrees(look_up<dm::layout<line>>{3}(table), rows(a, 3, {"r", "q"})));
  });
}

}  // namespace

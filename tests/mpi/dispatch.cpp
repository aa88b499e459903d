// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// Rows that go to the ranks of their groups and back: where they arrive, for even, uneven and
// ragged rows and any numbers of groups, beside a sort of whole arrays; bytes, transposes, starts;
// experts without a capacity; rows without a group; groups that there are not, and rows that were
// not counted.
#include "dimesh/op/dispatch.hpp"

#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "dimesh/any_tensor.hpp"
#include "dimesh/op/grouped_einsum.hpp"
#include "dimesh/op/start.hpp"
#include "dimesh/plan/runtime_tensor.hpp"
#include "support/adjoint.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

/// The group of each row, of so many.
using grouping = index_t (*)(index_t row, index_t groups);
constexpr grouping groupings[] = {
    [](index_t i, index_t n) { return (i * i + 3 * i) % n; },  // all over the place
    [](index_t, index_t n) { return n - 1; },                  // all to one
    [](index_t, index_t) { return index_t{0}; },
    [](index_t i, index_t n) { return i % 2 == 0 ? 0 : n / 2; },  // most groups are empty
    [](index_t i, index_t n) { return (n - 1) - i % n; },
};

/// The rows of a whole array in order of their groups.
std::vector<index_t> sorted(index_t rows, index_t groups, grouping f) {
  std::vector<index_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](index_t a, index_t b) {
    return std::pair(f(a, groups), a) < std::pair(f(b, groups), b);
  });
  return order;
}
array permuted(const array& a, int d, const std::vector<index_t>& order) {
  return make(a.dims, a.size, [&](extents at) {
    auto& i = at[static_cast<std::size_t>(d)];
    i = order[static_cast<std::size_t>(i)];
    return value_at(a, a.dims, at);
  });
}

/// Rows p under layout L, groups s split by axis A.
template <class L, class A, class T, class Grid, class... Cuts>
void check_values(const Grid& g, index_t rows, index_t groups, const Cuts&... cuts) {
  using Ids = dm::tensor<std::int32_t, L, p>;
  const array a = numbers({"q", "p", "r"}, {2, rows, 3}, 7);
  const auto x = scattered<dm::tensor<T, L, q, p, r>>(g, a, cuts...);
  for (const grouping f : groupings) {
    const array of = make({"p"}, {rows},
                          [&](const extents& at) { return static_cast<double>(f(at[0], groups)); });
    const auto plan =
        dm::all_to_all_counts<p, dm::uneven<s>, A>(scattered<Ids>(g, of, cuts...), s{groups});
    const array lengths = make({"s"}, {groups}, [&](const extents& at) {
      index_t n = 0;
      for (index_t i = 0; i < rows; ++i) n += f(i, groups) == at[0];
      return static_cast<double>(n);
    });
    CHECK(agrees(plan.lengths(), lengths));
    const auto there = dm::all_to_all(plan, x);
    CHECK(agrees(there, permuted(a, 1, sorted(rows, groups, f))));
    CHECK(dm::cuts_of<p>(there) == plan.cuts());
    const auto back = dm::all_to_all_back(plan, there);
    static_assert(std::is_same_v<decltype(back), decltype(x)> ||
                  std::is_same_v<std::remove_cv_t<decltype(back)>, std::remove_cv_t<decltype(x)>>);
    CHECK(agrees(back, a));
    auto coming = dm::start_all_to_all(plan, x);
    const auto later = dm::await(std::move(coming));
    CHECK(agrees(later, permuted(a, 1, sorted(rows, groups, f))));
    CHECK(agrees(dm::await(dm::start_all_to_all_back(plan, later)), a));
  }
}

TEST_CASE("where rows arrive, and that they come back") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto n = static_cast<index_t>(g.everyone().size());
    for (const index_t groups : {1, 4, 7}) {
      check_values<dm::layout<line, dm::split<p, x>>, x, double>(g, 6 * n, groups);
      for (const index_t rows : {0, 1, 5, 13})
        check_values<dm::layout<line, dm::split<dm::uneven<p>, x>>, x, float>(g, rows, groups);
      check_values<dm::layout<line, dm::split<dm::ragged<p>, x>>, x, std::int64_t>(
          g, 9, groups,
          dm::cuts_by_speed<p>(9, std::vector<double>(static_cast<std::size_t>(n), 1.0)));
    }
  });
}

/// The same rows, whose layout is a value: as many bits at the same places. Rows: p as it is split.
template <class Rows, class Grid, class... Cuts>
void check_as_values(const Grid& g, index_t rows, const Cuts&... cuts) {
  using L = dm::layout<line, dm::split<Rows, x>>;
  using M = line;
  const array of = make({"p"}, {rows}, [](const extents& at) { return double(at[0] * 3 % 4); });
  const auto where = scattered<dm::tensor<std::int32_t, L, p>>(g, of, cuts...);
  const auto v =
      scattered<dm::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {rows, 3}, 7), cuts...);
  const auto where_by_value = dm::any_tensor(where).as<dm::runtime_tensor<std::int32_t, M, p>>();
  const auto by_value = dm::any_tensor(v).as<dm::runtime_tensor<double, M, p, q>>();
  const auto check = [&](const auto& plan) {
    const auto there = dm::all_to_all(plan, by_value);
    const auto want = dm::all_to_all(dm::all_to_all_counts<p, dm::uneven<s>, x>(where, s{4}), v);
    CHECK(dm::describe(there) == dm::describe(want));
    CHECK(dm::to_rank(there) == dm::to_rank(want));
    const auto back = dm::all_to_all_back(plan, there);
    CHECK(dm::describe(back) == dm::describe(v));
    CHECK(dm::to_rank(back) == dm::to_rank(v));
    const auto later = dm::await(dm::start_all_to_all(plan, by_value));
    CHECK(dm::to_rank(later) == dm::to_rank(want));
    CHECK(dm::to_rank(dm::await(dm::start_all_to_all_back(plan, later))) == dm::to_rank(v));
  };
  check(dm::all_to_all_counts<p, dm::uneven<s>, x>(where, s{4}));
  check(dm::all_to_all_counts<p, dm::uneven<s>, x>(where_by_value, s{4}));
  const auto said = dm::all_to_all_counts<Rows, dm::uneven<s>, x>(where_by_value, s{4});
  check(said);
  const auto there = dm::all_to_all(said, v);  // whose type says how its rows lie
  const auto back = dm::all_to_all_back(said, there);
  static_assert(std::is_same_v<std::remove_cv_t<decltype(back)>, std::remove_cv_t<decltype(v)>>);
  CHECK(dm::to_rank(there) == dm::to_rank(dm::all_to_all(said, by_value)));
  CHECK(dm::to_rank(back) == dm::to_rank(v));
}

TEST_CASE("rows whose layout is a value go where those go whose layout is a type") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto n = static_cast<index_t>(g.everyone().size());
    check_as_values<p>(g, 6 * n);
    for (const index_t rows : {0, 1, 5, 13}) check_as_values<dm::uneven<p>>(g, rows);
    check_as_values<dm::ragged<p>>(
        g, 9, dm::cuts_by_speed<p>(9, std::vector<double>(static_cast<std::size_t>(n), 1.0)));
  });
}

TEST_CASE("rows that lie otherwise than a runtime tensor's whose groups were counted") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto n = static_cast<index_t>(g.everyone().size());
    using even = dm::layout<line, dm::split<p, x>>;
    using ragged = dm::layout<line, dm::split<dm::ragged<p>, x>>;
    std::vector<index_t> lengths(static_cast<std::size_t>(n));
    lengths[0] = 4 * n;
    const dm::cuts<p> cuts(lengths);
    const array of = make({"p"}, {4 * n}, [](const extents& i) { return double(i[0] % 4); });
    using R = dm::runtime_tensor<int, line, p>;
    const R of_ragged = dm::any_tensor(scattered<dm::tensor<int, ragged, p>>(g, of, cuts)).as<R>();
    const R of_even = dm::any_tensor(scattered<dm::tensor<int, even, p>>(g, of)).as<R>();
    const auto plan = dm::all_to_all_counts<p, dm::uneven<s>, x>(of_ragged, s{4});
    const array rows = numbers({"p"}, {4 * n}, 3);
    const auto v = scattered<dm::tensor<double, even, p>>(g, rows);
    const auto there = scattered<dm::tensor<double, ragged, p>>(g, rows, plan.cuts());
    const char* why =
        "lie otherwise than those whose groups were counted; count theirs by all_to_all_counts";
    CHECK_THROWS_WITH_AS((void)dm::all_to_all(plan, v), doctest::Contains(why), dm::error);
    CHECK_THROWS_WITH_AS((void)dm::all_to_all_back(plan, there), doctest::Contains(why), dm::error);
    CHECK_THROWS_WITH_AS(
        ((void)dm::all_to_all_counts<dm::uneven<p>, dm::uneven<s>, x>(of_even, s{4})),
        doctest::Contains("all_to_all_counts: dim_split_differently"), dm::error);
  });
}

TEST_CASE("events: the wait for rows is told as the call that they travel by") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array of = make({"p"}, {9}, [](const extents& at) { return double(at[0] % 4); });
    const auto plan =
        dm::all_to_all_counts<p, dm::uneven<s>, x>(scattered<dm::tensor<int, L, p>>(g, of), s{4});
    const auto v = scattered<dm::tensor<double, L, p>>(g, numbers({"p"}, {9}, 3));
    dm::event_list list;
    {
      const dm::watch all(list);
      [[maybe_unused]] const auto y = dm::await(dm::start_all_to_all(plan, v));
    }
    std::vector<dm::event_part> parts;
    for (const dm::event& e : list.events)
      if (dm::is_communication(e.kind)) {
        CHECK(e.kind == dm::event_kind::all_to_all);
        parts.push_back(e.part);
      }
    if (g.ranks() > 1) CHECK(parts == std::vector{dm::event_part::start, dm::event_part::finish});
  });
}

TEST_CASE("where other axes replicate the rows, split their elements or hold addends") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using rows = dm::layout<plane, dm::split<dm::uneven<p>, x>>;
    const array a = numbers({"p", "q"}, {9, 5}, 3);
    const array of = make({"p"}, {9}, [](const extents& at) { return double((at[0] * 5) % 6); });
    const auto order = sorted(9, 6, [](index_t i, index_t) { return (i * 5) % 6; });
    const auto plan = dm::all_to_all_counts<p, dm::uneven<s>, x>(
        scattered<dm::tensor<int, rows, p>>(g, of), s{6});
    const auto check = [&](auto l) {
      using L = typename decltype(l)::type;
      const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
      const auto there = dm::all_to_all(plan, v);
      CHECK(agrees(there, permuted(a, 0, order)));
      CHECK(agrees(dm::all_to_all_back(plan, there), a));
    };
    using dm::detail::tag;
    check(tag<rows>{});
    check(tag<dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<q>, y>>>{});
    check(tag<dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::partial<y>>>{});
  });
}

TEST_CASE("bytes are foreseen where all ranks get as many rows of each; transposes") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<p, x>>;
    const auto n = static_cast<index_t>(g.everyone().size());
    const array a = numbers({"p", "q"}, {2 * n * n, 3}, 5);
    const auto spread = [n](index_t i) { return i % n * 2 + i / n % 2; };
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    const auto there = [&](const auto& i) {
      const auto plan =
          dm::all_to_all_counts<p, s, x>(places_beside<L, p>(i, spread, p{2 * n * n}), s{2 * n});
      return dm::all_to_all(plan, i);
    };
    const auto and_back = [&](const auto& i) {
      const auto plan =
          dm::all_to_all_counts<p, s, x>(places_beside<L, p>(i, spread, p{2 * n * n}), s{2 * n});
      const auto y = dm::all_to_all(plan, i);
      return dm::all_to_all_back(plan, y * y);
    };
    check_operation(there, {}, {a}, v);
    CHECK(costs_as_foreseen(
        there, scattered<dm::tensor<double, L, p, q>>(g, numbers({"p", "q"}, {2 * n * n, 0}, 5))));
    check_operation(and_back, precision{1e-3, 1e-5}, {a}, v);
  });
}

TEST_CASE("gradients go back the way rows came, however many go where") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const array a = numbers({"p", "q"}, {11, 3}, 5), c = numbers({"p", "q"}, {11, 3}, 6);
    const array of = make({"p"}, {11}, [](const extents& at) { return double(at[0] * at[0] % 4); });
    const auto plan =
        dm::all_to_all_counts<p, dm::uneven<s>, x>(scattered<dm::tensor<int, L, p>>(g, of), s{4});
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    const auto w = dm::all_to_all(plan, scattered<dm::tensor<double, L, p, q>>(g, c));
    const auto loss = [&](const auto& i) { return dm::sum<p, q>(dm::all_to_all(plan, i) * w); };
    const auto [value, slope] = dm::complete(dm::value_and_grad(loss, v)());
    CHECK(agrees(slope, c));
  });
}

TEST_CASE("experts without a capacity: as one rank with all of them") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    using E = dm::layout<line, dm::split<dm::uneven<s>, x>>;
    const array a = numbers({"p", "q"}, {10, 3}, 1), b = numbers({"s", "q", "r"}, {5, 3, 4}, 2);
    const auto f = [](index_t i) { return (i * 7 + i / 3) % 5; };
    const array of = make({"p"}, {10}, [&](const extents& at) { return double(f(at[0])); });
    const array which =
        make({"p", "s"}, {10, 5}, [&](const extents& at) { return f(at[0]) == at[1] ? 1.0 : 0.0; });
    const auto plan =
        dm::all_to_all_counts<p, dm::uneven<s>, x>(scattered<dm::tensor<int, L, p>>(g, of), s{5});
    const auto y = dm::grouped_einsum<p, s, p, r>(
        dm::all_to_all(plan, scattered<dm::tensor<double, L, p, q>>(g, a)),
        scattered<dm::tensor<double, E, s, q, r>>(g, b), plan.lengths());
    CHECK(agrees(dm::all_to_all_back(plan, y), einsum({"p", "r"}, {a, which, b})));
  });
}

TEST_CASE("rows of no group go nowhere, and come back as zeros; gradients alike") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const auto group = [](index_t i) { return i % 3 == 1 ? -1 : i * i % 4; };
    const auto masked = [&](const array& a) {
      return make(a.dims, a.size, [&](const extents& at) {
        return group(at[0]) < 0 ? 0.0 : value_at(a, a.dims, at);
      });
    };
    const array a = numbers({"p", "q"}, {11, 3}, 5), c = numbers({"p", "q"}, {11, 3}, 6);
    const array of = make({"p"}, {11}, [&](const extents& at) { return double(group(at[0])); });
    const auto plan =
        dm::all_to_all_counts<p, dm::uneven<s>, x>(scattered<dm::tensor<int, L, p>>(g, of), s{4});
    std::vector<index_t> order;
    for (index_t e = 0; e < 4; ++e)
      for (index_t i = 0; i < 11; ++i)
        if (group(i) == e) order.push_back(i);
    const auto n = static_cast<index_t>(order.size());
    CHECK(agrees(plan.lengths(), make({"s"}, {4}, [&](const extents& at) {
                   return double(std::count_if(order.begin(), order.end(),
                                               [&](index_t i) { return group(i) == at[0]; }));
                 })));
    const auto v = scattered<dm::tensor<double, L, p, q>>(g, a);
    const auto there = dm::all_to_all(plan, v);
    CHECK(agrees(there, make({"p", "q"}, {n, 3}, [&](const extents& at) {
                   return value_at(a, a.dims, {order[static_cast<std::size_t>(at[0])], at[1]});
                 })));
    CHECK(agrees(dm::all_to_all_back(plan, there), masked(a)));
    CHECK(
        agrees(dm::await(dm::start_all_to_all_back(plan, dm::await(dm::start_all_to_all(plan, v)))),
               masked(a)));
    const auto w = scattered<dm::tensor<double, L, p, q>>(g, c);
    const auto loss = [&](const auto& i) {
      return dm::sum<p, q>(dm::all_to_all_back(plan, dm::all_to_all(plan, i)) * w);
    };
    const auto slope = dm::complete(dm::value_and_grad(loss, v)()).gradient;
    CHECK(agrees(slope, masked(c)));
  });
}

/// A dim whose extent the type says has that many rows, and all of them a group.
struct seven : dm::dim<7> {};

TEST_CASE("what all ranks refuse alike") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
    const auto ids = [&](index_t rows, index_t wrong, double group) {
      return scattered<dm::tensor<int, L, p>>(
          g, make({"p"}, {rows}, [=](const extents& at) { return at[0] == wrong ? group : 1.0; }));
    };
    using counts = std::string;
    for (const auto& [row, group] : {std::pair{6, 3.0}, std::pair{0, -2.0}}) {
      const counts said = "all_to_all_counts: row " + std::to_string(row) +
                          " of dim 'p' belongs to group " + std::to_string(int(group)) +
                          ", and dim 's' has 3 groups; numbers of groups begin at 0";
      CHECK_THROWS_WITH_AS(
          ((void)dm::all_to_all_counts<p, dm::uneven<s>, x>(ids(7, row, group), s{3})),
          said.c_str(), dm::error);
    }
    using F = dm::layout<line, dm::split<dm::uneven<seven>, x>>;
    const auto some = scattered<dm::tensor<int, F, seven>>(
        g, make({"seven"}, {7}, [](const extents& at) { return at[0] == 5 ? -1. : 1.; }));
    CHECK_THROWS_WITH_AS(((void)dm::all_to_all_counts<seven, dm::uneven<s>, x>(some, s{3})),
                         "all_to_all_counts: row 5 of dim 'seven' belongs to group -1, and dim 's' "
                         "has 3 groups; numbers of groups begin at 0",
                         dm::error);
    const auto plan = dm::all_to_all_counts<p, dm::uneven<s>, x>(ids(7, -1, 0), s{3});
    const auto other = scattered<dm::tensor<double, L, p>>(g, numbers({"p"}, {8}, 1));
    CHECK_THROWS_WITH_AS((void)dm::all_to_all(plan, other),
                         "all_to_all: the rows of dim 'p' lie otherwise than those whose groups "
                         "were counted; count theirs by all_to_all_counts",
                         dm::error);
    const auto there = dm::own<dm::ragged<p>, x>(
        dm::with_cuts(scattered<dm::tensor<double, dm::layout<line>, p>>(g, numbers({"p"}, {8}, 1)),
                      dm::cuts_by_ceil<p>(8, static_cast<index_t>(g.everyone().size()))));
    CHECK_THROWS_AS((void)dm::all_to_all_back(plan, there), dm::error);
    const dm::grid<line> another;
    const auto elsewhere = scattered<dm::tensor<double, L, p>>(another, numbers({"p"}, {7}, 1));
    CHECK_THROWS_WITH_AS((void)dm::all_to_all(plan, elsewhere),
                         "all_to_all: the operands live on two grids; make them on one, or bring "
                         "them there with relayout",
                         dm::error);
  });
}

}  // namespace

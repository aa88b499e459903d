// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, padding, reversed dims, concatenations, parts, copies, orders, merged and cut dims:
// against whole arrays, under every layout that their rules allow; their transposes and costs; and
// what only the run refuses.
// ranks: 1 2 4
// checks: 3069 5733 8397
// labels: sanitize_all device
#include <doctest/doctest.h>

#include "dimesh/op/concat.hpp"
#include "dimesh/op/expand.hpp"
#include "dimesh/op/merge.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/shuffle.hpp"
#include "dimesh/op/slice.hpp"
#include "dimesh/op/split_into.hpp"
#include "support/adjoint.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct three : dm::dim<3> {};
struct seven : dm::dim<7> {};
struct two : dm::dim<2> {};

const std::vector<extents> sizes = {{4, 6}, {5, 3}, {0, 3}, {3, 1}};

/// a with other elements along one dim: element k is at[k] of it, 0 (or `around`) where that is -1.
array reindexed(const array& a, const std::string& dim, const std::string& to,
                const std::vector<index_t>& at, double around = 0) {
  array out = a;
  const auto d = static_cast<std::size_t>(a.place(dim));
  out.dims[d] = to;
  out.size[d] = static_cast<index_t>(at.size());
  out.values.clear();
  for_each_index(out.size, [&](extents index) {
    index[d] = at[static_cast<std::size_t>(index[d])];
    out.values.push_back(index[d] < 0 ? around : value_at(a, a.dims, index));
  });
  return out;
}
std::vector<index_t> range(index_t begin, index_t count, index_t step = 1) {
  std::vector<index_t> v;
  for (index_t k = 0; k < count; ++k) v.push_back(begin + k * step);
  return v;
}
std::vector<index_t> operator+(std::vector<index_t> a, const std::vector<index_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
template <class D, class X>
inline constexpr bool can_slice = dm::ok<dd::fault_of<dd::strided_rule<D, D>, X>>;

template <class F> std::string error_of(F&& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return {};
}

/// Along dim D of x, which may be split or not.
template <class D, class X> void check_parts(const X& x, const array& a) {
  if constexpr (can_slice<D, X>) {
    const std::string d(dd::name_of<D>());
    const index_t n = x.template extent<D>();
    const auto same = [&](const auto& f, const array& expected) {
      CHECK(agrees(f(x), expected));
      check_operation(f, {}, {a}, x);
    };
    same([](const auto& v) { return dm::slice<D>(v, 0, v.template extent<D>(), 2); },
         reindexed(a, d, d, range(0, (n + 1) / 2, 2)));
    const array turned = reindexed(a, d, d, range(n - 1, n, -1));
    CHECK(agrees(dm::slice<D>(x, n - 1, -1, -1), turned));
    CHECK(agrees(dm::flip<D>(x), turned));
    CHECK(agrees(dm::pad<D>(x, 1, 2),
                 reindexed(a, d, d, range(-1, 1) + range(0, n) + std::vector<index_t>{-1, -1})));
    same([](const auto& v) { return dm::pad<D, seven>(v, 1); },
         reindexed(a, d, "seven",
                   range(-1, 1) + range(0, n) +
                       std::vector<index_t>(static_cast<std::size_t>(6 - n), -1)));
    if (n >= 3) {
      CHECK(agrees(dm::slice<D, three>(x, n - 3), reindexed(a, d, "three", range(n - 3, 3))));
      CHECK(agrees(dm::slice<D, r>(x, 2, -1, r{2}), reindexed(a, d, "r", {2, 1})));
    }
    if (n > 0) {
      array one = reindexed(a, d, "gone", {n - 1});
      const auto at = static_cast<std::size_t>(one.place("gone"));
      one.dims.erase(one.dims.begin() + static_cast<std::ptrdiff_t>(at));
      one.size.erase(one.size.begin() + static_cast<std::ptrdiff_t>(at));
      same([](const auto& v) { return dm::pick<D>(v, v.template extent<D>() - 1); }, one);
    }
    same([](const auto& v) { return dm::concat<D>(v, dm::slice<D>(v, 0, 1), v); },
         reindexed(a, d, d, range(0, n) + range(0, std::min<index_t>(n, 1)) + range(0, n)));
    CHECK(error_of([&] { (void)dm::slice<D>(x, 0, n + 1); }).starts_with("slice: "));
    CHECK(error_of([&] { (void)dm::pick<D>(x, n); }).starts_with("pick: "));
    CHECK(error_of([&] { (void)dm::slice<D>(x, 0, 1, 0); }).starts_with("slice: a step of 0"));
    CHECK(
        error_of([&] { (void)dm::slice<D, r>(x, 0, 0, r{2}); }).starts_with("slice: a step of 0"));
    CHECK(error_of([&] { (void)dm::pad<D>(x, -1, 1); }).starts_with("pad: a number of elements"));
  }
}

TEST_CASE("slice, pad, flip, pick, concat: along either dim, under every layout") {
  for_each_case<line, unevenly_with_partial, p, q>(sizes, [](auto v, const array& a) {
    if (a.size[0] > 0) check_parts<p>(v, a);
  });
  for_each_case<plane, unevenly_with_partial, p, q>(
      sizes, [](auto v, const array& a) { check_parts<q>(v, a); });
}

TEST_CASE("pad: with a number, where nothing is yet to be summed") {
  for_each_case<line, unevenly, p, q>(sizes, [](auto v, const array& a) {
    if constexpr (can_slice<q, decltype(v)>) {
      const index_t n = a.size[1];
      CHECK(agrees(
          dm::pad<q>(v, 2, 1, 0.5),
          reindexed(a, "q", "q", std::vector<index_t>{-1, -1} + range(0, n) + range(-1, 1), 0.5)));
    }
  });
}

TEST_CASE("stack: a new dim before the others") {
  for_each_case<plane, unevenly_with_partial, p, q>({{5, 3}, {0, 2}}, [](auto v, const array& a) {
    const auto both = [](const auto& x) { return dm::stack<two>(x, x); };
    array expected{{"two", "p", "q"}, {2, a.size[0], a.size[1]}, a.values};
    expected.values.insert(expected.values.end(), a.values.begin(), a.values.end());
    CHECK(agrees(both(v), expected));
    check_operation(both, {}, {a}, v);
    CHECK(agrees(dm::pick<two>(both(v), 1), a));
  });
}

TEST_CASE("expand: copies along a new dim; the sum over them") {
  for_each_case<plane, unevenly_with_partial, p, q>({{5, 3}, {0, 2}}, [](auto v, const array& a) {
    const auto copies = [](const auto& x) { return dm::expand<three>(x); };
    array expected{{"three", "p", "q"}, {3, a.size[0], a.size[1]}, a.values};
    for (int k = 1; k < 3; ++k)
      expected.values.insert(expected.values.end(), a.values.begin(), a.values.end());
    CHECK(agrees(copies(v), expected));
    check_operation(copies, {}, {a}, v);
    CHECK(agrees(dm::expand<r>(v, r{0}), array{{"r", "p", "q"}, {0, a.size[0], a.size[1]}, {}}));
    CHECK(error_of([&] { (void)dm::expand<r>(v); }) ==
          "expand: how many elements has dim 'r'? give its extent: expand<dim>(x, dim{n})");
  });
}

TEST_CASE("unstack: what stack put together, in either kind of dim") {
  for_each_case<line, unevenly_with_partial, p, q>({{5, 3}, {2, 4}}, [](auto v, const array& a) {
    const auto pieces = dm::unstack<two>(dm::stack<two>(v, v));
    static_assert(std::tuple_size_v<std::remove_const_t<decltype(pieces)>> == 2);
    for (const auto& piece : pieces) CHECK(agrees(piece, a));
    if constexpr (can_slice<q, decltype(v)>) {
      const auto turned = [](const auto& x) {
        const auto columns = dm::unstack<q>(x);
        return dm::stack<two>(columns[columns.size() - 1], columns[0]);
      };
      CHECK(dm::unstack<q>(v).size() == static_cast<std::size_t>(a.size[1]));
      check_operation(turned, {}, {a}, v);
    }
  });
}

TEST_CASE("split_into: parts by names and by numbers, put together again") {
  for_each_case<line, unevenly_with_partial, p, q>({{5, 4}, {0, 4}}, [](auto v, const array& a) {
    if constexpr (can_slice<q, decltype(v)>) {
      const auto [one, other] = dm::split_into<q>(v, r{1}, three{});
      CHECK(agrees(one, reindexed(a, "q", "r", {0})));
      CHECK(agrees(other, reindexed(a, "q", "three", {1, 2, 3})));
      const auto all = dm::split_into<q>(v, 1, 0, 3);
      CHECK(agrees(all[1], reindexed(a, "q", "q", {})));
      CHECK(agrees(dm::concat<q>(all[0], all[1], all[2]), a));
      const auto turned = [](const auto& x) {
        const auto [left, right] = dm::split_into<q>(x, three{}, r{1});
        return dm::concat<seven, r, r, r, r, three>(right, right, right, right, left);
      };
      check_operation(turned, {}, {a}, v);
      CHECK(error_of([&] { (void)dm::split_into<q, two>(v); }) ==
            "split_into: the parts have 2 elements together, and dim 'q' has 4");
      CHECK(error_of([&] { (void)dm::split_into<q>(v, -1, 5); }).starts_with("split_into: -1 el"));
    }
  });
}

template <class D, class X> void check_shuffled(const X& x, const array& a) {
  if constexpr (can_slice<D, X>) {
    const std::string d(dd::name_of<D>());
    const index_t n = x.template extent<D>();
    const dm::random_permutation order(dm::random_key{3}, n);
    std::vector<index_t> places;
    for (index_t i = 0; i < n; ++i) places.push_back(order(i));
    const auto f = [](const auto& v) { return dm::shuffle<D>(dm::random_key{3}, v); };
    CHECK(agrees(f(x), reindexed(a, d, d, places)));
    check_operation(f, {}, {a}, x);
  }
}
TEST_CASE("shuffle: one order for all places of the other dims") {
  for_each_case<plane, unevenly_with_partial, p, q>({{5, 3}, {0, 2}, {6, 1}},
                                                    [](auto v, const array& a) {
                                                      check_shuffled<p>(v, a);
                                                      check_shuffled<q>(v, a);
                                                    });
}

TEST_CASE("concat: by names, and in another order of storage") {
  for_each_case<line, unevenly_with_partial, p, q>({{5, 3}}, [](auto v, const array& a) {
    if constexpr (can_slice<q, decltype(v)>) {
      const auto joined = [](const auto& x) {
        const auto other = dm::permute<r, p>(dm::pad<q, r>(x, 1, r{4}));
        return dm::concat<seven, q, r>(x, other);
      };
      CHECK(
          agrees(joined(v), reindexed(a, "q", "seven", range(0, 3) + range(-1, 1) + range(0, 3))));
      check_operation(joined, {}, {a}, v);
    }
  });
}

TEST_CASE("concat, stack, merge: static extents that are not those of the operands") {
  for_each_case<line, unevenly, p, q>({{4, 2}}, [](auto v, const array&) {
    const std::string stacked = error_of([&] { (void)dm::stack<three>(v, v); });
    CHECK(stacked == "stack: the operands have 2 elements together, and dim 'three' has 3");
    if constexpr (can_slice<q, decltype(v)>) {
      const std::string joined = error_of([&] { (void)dm::concat<seven, q, q>(v, v); });
      CHECK(joined == "concat: the operands have 4 elements together, and dim 'seven' has 7");
    }
    if constexpr (dm::ok<dd::fault_of<dd::merge_rule<seven, p, q>, decltype(v)>>) {
      const std::string merged = error_of([&] { (void)dm::merge<seven, p, q>(v); });
      CHECK(merged == "merge: the dims have 8 elements together, and dim 'seven' has 7");
    }
  });
}

TEST_CASE("merge and cut: the same memory under other names") {
  for_each_case<plane, with_partial, p, q>({{4, 6}, {4, 2}, {0, 3}, {8, 1}}, [](auto v,
                                                                                const array& a) {
    using X = decltype(v);
    if constexpr (dm::ok<dd::fault_of<dd::merge_rule<r, p, q>, X>>) {
      const auto f = [](const auto& x) { return dm::merge<r, p, q>(x); };
      const auto y = f(v);
      CHECK(agrees(y, array{{"r"}, {a.count()}, a.values}));
      CHECK(y.data() == v.data());
      check_operation(f, {}, {a}, v);
      const auto back = dm::cut<r, p, q>(y, q{a.size[1]});
      static_assert(std::is_same_v<std::remove_const_t<decltype(back)>, X>);
      CHECK(agrees(back, a));
      if (a.size[0] > 0) {
        const index_t n = a.size[1];
        check_operation(
            [n](const auto& x) { return dm::cut<r, p, s>(dm::merge<r, p, q>(x), s{n}); }, {}, {a},
            v);
        CHECK(error_of([&] {
                (void)dm::cut<r, p, s>(y, s{7});
              }).find("not the product of p=? x s=7") != std::string::npos);
        CHECK(error_of([&] { (void)dm::cut<r, p, s>(y); }).find("give all open extents but one") !=
              std::string::npos);
      }
    }
  });
}

}  // namespace

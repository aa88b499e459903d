// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements by number, added up by number, counted, sorted: against whole arrays under every layout
// that their rules allow; their transposes and costs; and what only the run refuses.
// ranks: 1 2 4
// checks: 1043 2018 2993
// compiler: clang
// labels: local sanitize_all device
#include "dimesh/op/sort.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "dimesh/op/beside_number.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/logic.hpp"
#include "support/adjoint.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace dd = dimesh::detail;

struct three : dm::dim<3> {};

#ifdef DIMESH_CHECKED
[[maybe_unused]] const bool as_in_plain_builds = (dm::detail::checks_places = false);
#endif
/// -1 .. 5 for the elements of p x r.
struct place_of_row {
  KOKKOS_FUNCTION constexpr index_t operator()(index_t i, index_t k) const {
    return (i * 5 + k * 3 + 2) % 7 - 1;
  }
};
constexpr place_of_row place_at;

template <class L> struct pick_each {
  index_t n, m;
  template <class X> auto operator()(const X& x) const {
    return dm::gather<q, r>(x, dm::permute<r, p>(places_beside<L, p, r>(x, place_at, p{n}, r{m})));
  }
};
template <class L, class To = q> struct add_each {
  index_t n, m;
  template <class X> auto operator()(const X& rows) const {
    return dm::scatter_add<r, To>(rows, places_beside<L, p, r>(rows, place_at, p{n}, r{m}), To{5});
  }
};

/// x[p, places[p, r]], and the sums of y[p, r] at places[p, r] of 5.
array gathered_from(const array& a, index_t m) {
  return make({"p", "r"}, {a.size[0], m}, [&](const extents& at) {
    const index_t k = place_at(at[0], at[1]);
    return k < 0 || k >= a.size[1] ? 0.0 : value_at(a, {"p", "q"}, {at[0], k});
  });
}
array scattered_to(const array& y) {
  return make({"p", "q"}, {y.size[0], 5}, [&](const extents& at) {
    double sum = 0;
    for (index_t k = 0; k < y.size[1]; ++k)
      if (place_at(at[0], k) == at[1]) sum += value_at(y, {"p", "r"}, {at[0], k});
    return sum;
  });
}

TEST_CASE(
    "gather: under every layout, places among them; what splits the elements leaves addends") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, dd::list<p, q, r>, layout_choice{.uneven = true, .places = 1}>(
        [&](auto t) {
          using L = typename decltype(t)::type;
          for (const extents& n : {extents{4, 5, 6}, extents{3, 2, 1}, extents{0, 2, 3}}) {
            const array a = numbers({"p", "q"}, {n[0], n[1]}, 1);
            const auto x = scattered<dm::tensor<double, L, p, q>>(g, a);
            const pick_each<L> f{n[0], n[2]};
            CHECK(agrees(f(x), gathered_from(a, n[2])));
            check_operation(f, {}, {a}, x);
          }
        });
  });
}

/// Numbers under a layout of their own, called q as the elements they stand for.
template <class L> struct pick_alike {
  index_t n, m;
  template <class X> auto operator()(const X& x) const {
    return dm::gather<q, q>(x, places_beside<L, p, q>(x, place_at, p{n}, q{m}));
  }
};

TEST_CASE("gather: numbers split otherwise, addends, evenly split elements, static ones") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using dm::layout;
    using dm::split;
    const index_t n = 2 * g.template size<x>(), m = 3 * g.template size<y>();
    const array a = numbers({"p", "q"}, {n, m}, 1);
    const auto check = [&](auto f, const auto& v) {
      CHECK(agrees(f(v), renamed(gathered_from(a, f.m), "r", "q")));
      check_operation(f, {}, {a}, v);
    };
    using by_y = layout<plane, split<q, y>>;
    const auto along = scattered<dm::tensor<double, by_y, p, q>>(g, a);
    check(pick_alike<layout<plane>>{n, m}, along);
    check(pick_alike<layout<plane>>{n, m + 2}, along);  // numbers of another extent
    check(pick_alike<layout<plane, split<dm::uneven<q>, x>>>{n, m}, along);
    check(pick_alike<layout<plane, split<dm::uneven<q>, x>>>{n, 1}, along);
    const auto tiles =
        scattered<dm::tensor<double, layout<plane, split<p, x>, split<q, y>>, p, q>>(g, a);
    check(pick_alike<layout<plane, split<p, x>>>{n, m}, tiles);
    using sums = layout<plane, dm::partial<x>, split<q, y>>;
    const auto addends = scattered<dm::tensor<double, sums, p, q>>(g, a);
    check(pick_alike<layout<plane>>{n, m}, addends);
    using found = decltype(pick_alike<layout<plane>>{n, m}(addends));
    static_assert(std::is_same_v<typename dm::spec_of<found>::layout,
                                 layout<plane, dm::partial<x>, dm::partial<y>>>);
  });
}

TEST_CASE("scatter_add: what splits the rows leaves addends") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dd::list<p, r>, layout_choice{.uneven = true, .orders = false}>(
        [&](auto t) {
          using L = typename decltype(t)::type;
          for (const extents& n : {extents{4, 6}, extents{3, 1}, extents{2, 0}}) {
            const array a = numbers({"p", "r"}, n, 1);
            const auto x = scattered<dm::tensor<double, L, p, r>>(g, a);
            const add_each<L> f{n[0], n[1]};
            array sums = scattered_to(a);
            CHECK(agrees(f(x), sums));
            check_operation(f, {}, {a}, x);
            const add_each<L, r> as_before{n[0], n[1]};  // of the old name and a new extent
            sums.dims[1] = "r";
            CHECK(agrees(as_before(x), sums));
            check_operation(as_before, {}, {a}, x);
            const auto ids = places_beside<L, p, r>(x, place_at, p{n[0]}, r{n[1]});
            array ones = a;
            for (double& v : ones.values) v = 1;
            CHECK(agrees(dm::bincount<r, q>(ids, q{5}), scattered_to(ones)));
          }
        });
  });
}

/// The places of a line in order.
std::vector<index_t> order_of(const std::vector<double>& line, bool descending) {
  std::vector<index_t> at(line.size());
  std::iota(at.begin(), at.end(), index_t{0});
  std::stable_sort(at.begin(), at.end(), [&](index_t i, index_t k) {
    const double a = line[static_cast<std::size_t>(i)], b = line[static_cast<std::size_t>(k)];
    return descending ? a > b : a < b;
  });
  return at;
}
/// The first n along q in order, or their places.
array in_order(const array& a, index_t n, bool descending, bool of_places,
               const std::string& name) {
  return make({"p", name}, {a.size[0], n}, [&](const extents& at) {
    std::vector<double> line;
    for (index_t k = 0; k < a.size[1]; ++k) line.push_back(value_at(a, a.dims, {at[0], k}));
    const index_t k = order_of(line, descending)[static_cast<std::size_t>(at[1])];
    return of_places ? static_cast<double>(k) : line[static_cast<std::size_t>(k)];
  });
}

TEST_CASE("sort, argsort, top_k: of equals the first, under every layout that leaves the dim") {
  for_each_case<plane, unevenly, p, q>({{4, 6}, {5, 3}, {0, 4}, {3, 0}}, [](auto v,
                                                                            const array& a) {
    using X = decltype(v);
    if constexpr (!dm::is_split<dm::spec_of<X>, q>) {
      const index_t n = a.size[1];
      for (const bool down : {false, true}) {
        const auto o = down ? dm::order::descending : dm::order::ascending;
        CHECK(agrees(dm::argsort<q>(v, o), in_order(a, n, down, true, "q")));
        CHECK(agrees(dm::sort<q>(v, o), in_order(a, n, down, false, "q")));
      }
      if (n >= 3) {
        for (const index_t k : {index_t{0}, n / 2, n - 1}) {
          const array all = in_order(a, n, true, false, "q");
          CHECK(agrees(dm::nth_largest<q>(v, k), make({"p"}, {a.size[0]}, [&](const extents& at) {
                         return value_at(all, all.dims, {at[0], k});
                       })));
          CHECK(agrees(dm::nth_smallest<q>(v, k), make({"p"}, {a.size[0]}, [&](const extents& at) {
                         return value_at(all, all.dims, {at[0], n - 1 - k});
                       })));
        }
        const auto best = dm::top_k<q, three>(v);
        CHECK(agrees(best.values, in_order(a, 3, true, false, "three")));
        CHECK(agrees(best.places, in_order(a, 3, true, true, "three")));
        CHECK(agrees(dm::top_k<q, q>(v, q{2}).values, in_order(a, 2, true, false, "q")));
        const array b = reals(a.dims, a.size, 3);
        const auto y = scattered<X>(v.grid(), b);
        check_operation([](const auto& x) { return dm::sort<q>(x); }, smooth, {b}, y);
        check_operation([](const auto& x) { return dm::top_k<q, r>(x, r{2}).values; }, smooth, {b},
                        y);
        check_operation([](const auto& x) { return dm::top_k<q, q>(x, q{2}).values; }, smooth, {b},
                        y);
        check_operation([](const auto& x) { return dm::nth_largest<q>(x, 1); }, smooth, {b}, y);
        check_operation([](const auto& x) { return dm::nth_smallest<q>(x, 1); }, smooth, {b}, y);
      } else if (n == 0) {
        std::string said;
        try {
          (void)dm::top_k<q, three>(v);
        } catch (const dm::error& e) {
          said = e.what();
        }
        CHECK(said == "top_k: 3 greatest of dim 'q', which has 0 elements");
        said.clear();
        try {
          (void)dm::nth_largest<q>(v, 0);
        } catch (const dm::error& e) {
          said = e.what();
        }
        CHECK(said == "nth_largest: element 0 in the order of dim 'q', which has 0..-1");
      }
    }
  });
}

TEST_CASE("sort: NaN last, along a dim that is not stored last") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const double nan = std::nan("");
    const array a{{"p", "q"}, {3, 2}, {nan, 2, 1, nan, -1, 0}};
    const auto v = scattered<dm::tensor<double, dm::layout<line>, p, q>>(g, a);
    CHECK(agrees(dm::argsort<p>(v), array{{"p", "q"}, {3, 2}, {2, 2, 1, 0, 0, 1}}));
    CHECK(agrees(dm::argsort<p>(v, dm::order::descending),
                 array{{"p", "q"}, {3, 2}, {0, 1, 1, 0, 2, 2}}));
  });
}

#ifndef __CUDACC__
TEST_CASE(
    "sort, argsort, top_k of long double: NaN, infinities, ties, and what double rounds off") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    for (const index_t n : {5, 100}) {
      const long double none = std::numeric_limits<long double>::infinity(), one = 1;
      const auto at = [&](index_t, index_t j) {
        return j == 1   ? -none
               : j == 2 ? std::numeric_limits<long double>::quiet_NaN()
               : j == 3 ? none
                        : one + static_cast<long double>(j * 7 % 20) *
                                    std::numeric_limits<long double>::epsilon();
      };
      using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
      const auto v = dm::generate<dm::tensor<long double, L, p, q>>(g, at, p{3}, q{n});
      const auto order = [&](bool down, index_t few, const char* along) {
        std::vector<index_t> ids(static_cast<std::size_t>(n));
        std::iota(ids.begin(), ids.end(), index_t{0});
        const auto rank = [&](index_t i) { return std::isnan(at(0, i)) ? 1 : 0; };
        std::stable_sort(ids.begin(), ids.end(), [&](index_t i, index_t k) {
          const index_t less = down ? k : i, more = down ? i : k;
          return rank(less) < rank(more) || (rank(less) == rank(more) && at(0, less) < at(0, more));
        });
        return make({"p", along}, {3, few}, [&](const extents& i) {
          return static_cast<double>(ids[static_cast<std::size_t>(i[1])]);
        });
      };
      CHECK(agrees(dm::argsort<q>(v), order(false, n, "q")));
      CHECK(agrees(dm::argsort<q>(v, dm::order::descending), order(true, n, "q")));
      CHECK(agrees(dm::top_k<q, three>(v).places, order(true, 3, "three")));
      const auto place = [](const char* along, index_t many) {
        return make({"p", along}, {3, many}, [](const extents& i) { return double(i[1]); });
      };
      CHECK(agrees(dm::argsort<q>(dm::sort<q>(v)), place("q", n)));
      CHECK(agrees(dm::argsort<three>(dm::top_k<q, three>(v).values, dm::order::descending),
                   place("three", 3)));
    }
  });
}
#endif

/// f of every element.
template <class F> array each(const F& f, const array& a) {
  return map([&](const std::vector<double>& v) { return static_cast<double>(f(v[0])); }, {a});
}

TEST_CASE("truths: joined, and asked over dims split or not") {
  for_each_case<plane, layout_choice{.uneven = true, .orders = false}, p, q>(
      {{4, 6}, {5, 3}, {0, 3}}, [](auto v, const array& a) {
        const auto large = v > 3, small = v < 4;
        const array over = each([](double x) { return x > 3; }, a);
        const array under = each([](double x) { return x < 4; }, a);
        CHECK(agrees(dm::complete(dm::any<q>(large)), max({"p"}, over)));
        CHECK(agrees(dm::complete(dm::all<q>(small)), min({"p"}, under)));
        CHECK(agrees(dm::complete(dm::any<p>(large)),
                     each([](double x) { return x > 0; }, max({"q"}, over))));
        CHECK(agrees(dm::complete(dm::all<p>(small)),
                     each([](double x) { return x > 0; }, min({"q"}, under))));
        CHECK(agrees(dm::logical_not(large), under));
        CHECK(agrees(dm::logical_xor(v > 0, small),
                     each([](double x) { return x <= 0 || x >= 4; }, a)));
        CHECK(agrees(dm::logical_and(v > 0, small),
                     each([](double x) { return x > 0 && x < 4; }, a)));
        CHECK(
            agrees(dm::logical_or(v < 0, large), each([](double x) { return x < 0 || x > 3; }, a)));
      });
}

TEST_CASE("select with a number, clamp: values and gradients") {
  for_each_case<line, unevenly, p, q>({{5, 3}}, [](auto v, const array& a) {
    CHECK(agrees(dm::select(v > 0, v, 7), each([](double x) { return x > 0 ? x : 7; }, a)));
    CHECK(agrees(dm::select(v > 0, 7, v), each([](double x) { return x > 0 ? 7 : x; }, a)));
    CHECK(agrees(dm::select(v > 0, 2.5, -1), each([](double x) { return x > 0 ? 2.5 : -1; }, a)));
    static_assert(std::is_same_v<dm::value_of<decltype(dm::select(v > 0, 1.f, -1))>, float>);
    CHECK(agrees(dm::clamp(v, -2, 1),
                 each([](double x) { return std::min(std::max(x, -2.0), 1.0); }, a)));
    CHECK(agrees(dm::maximum(v, 1), each([](double x) { return std::max(x, 1.0); }, a)));
    CHECK(agrees(dm::minimum(v, 0.5), each([](double x) { return std::min(x, 0.5); }, a)));
    CHECK(agrees(dm::pow(v, 3), each([](double x) { return x * x * x; }, a)));
    const array b = reals(a.dims, a.size, 3);
    const auto y = scattered<decltype(v)>(v.grid(), b);
    check_operation([](const auto& x) { return dm::clamp(x, -0.3, 0.4) * x; }, smooth, {b}, y);
    check_operation([](const auto& x) { return dm::maximum(x, -0.3) * dm::minimum(x, 0.4); },
                    smooth, {b}, y);
    check_operation([](const auto& x) { return dm::pow(x, 3) + dm::pow(x, 2.0); }, smooth, {b}, y);
    check_operation([](const auto& x) { return dm::select(dm::stop_gradient(x) > 0.0, x * x, 2); },
                    smooth, {b}, y);
  });
}

#ifdef DIMESH_CHECKED
TEST_CASE("gather: a number outside is told with its index") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    dd::checks_places = true;
    const auto x = dm::zeros<dm::tensor<double, dm::layout<line>, q>>(g, q{3});
    const auto ids = dm::generate<dm::tensor<int, dm::layout<line>, r>>(
        g, [](index_t i) { return static_cast<int>(2 * i); }, r{3});
    std::string said;
    try {
      (void)dm::gather<q, r>(x, ids);
    } catch (const dm::error& e) {
      said = e.what();
    }
    dd::checks_places = false;
    CHECK(said.find("gather: the number at") != std::string::npos);
    CHECK(said.find("is 4, and dim 'q' has the places 0..2") != std::string::npos);
  });
}
#endif

}  // namespace

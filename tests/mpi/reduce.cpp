// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
#include "dimesh/op/reduce.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "dimesh/create.hpp"
#include "dimesh/fill.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/extreme_all_reduce.hpp"
#include "dimesh/op/value.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

const std::vector<extents> shapes = {{6, 4, 2}, {5, 3, 7}, {1, 0, 2}, {3, 1, 1}};

array scaled(array a, double by) {
  for (double& v : a.values) v *= by;
  return a;
}

TEST_CASE("sum: over one dim, several or all, in every layout") {
  for_each_case<plane, unevenly_with_partial, p, q, r>(shapes, [](auto x, const array& a) {
    CHECK(agrees(dm::sum<p>(x), sum({"q", "r"}, a)));
    CHECK(agrees(dm::sum<q>(x), sum({"p", "r"}, a)));
    CHECK(agrees(dm::sum<r, p>(x), sum({"q"}, a)));
    CHECK(agrees(dm::sum(x), sum({}, a)));
    CHECK(agrees(dm::complete(dm::sum<q, r>(x)), sum({"p"}, a)));
  });
}

TEST_CASE("mean: divides by the global count") {
  for_each_case<plane, evenly, p, q>({{4, 12}, {8, 4}}, [](auto x, const array& a) {
    const double count = static_cast<double>(a.size[1]);
    CHECK(agrees(dm::complete(dm::mean<q>(x)), scaled(sum({"p"}, a), 1 / count), 1e-14));
    CHECK(agrees(dm::mean(x), scaled(sum({}, a), 1 / static_cast<double>(a.count())), 1e-14));
  });
}

TEST_CASE("max, min: over one dim or all, in every layout without addends") {
  for_each_case<plane, unevenly, p, q, r>(shapes, [](auto x, const array& a) {
    CHECK(agrees(dm::complete(dm::max<q>(x)), max({"p", "r"}, a)));
    CHECK(agrees(dm::complete(dm::min<q, p>(x)), min({"r"}, a)));
    CHECK(agrees(dm::complete(dm::max(x)), max({}, a)));
    CHECK(agrees(dm::complete(dm::min(x)), min({}, a)));
  });
}

/// Functions with names, as kernels of devices want them.
template <class T> struct nan_at {
  dm::index_t at;
  KOKKOS_FUNCTION T operator()(dm::index_t i) const {
    return i == at ? std::numeric_limits<T>::quiet_NaN() : T(1);
  }
};
template <class T> struct counted {
  KOKKOS_FUNCTION T operator()(dm::index_t i) const { return static_cast<T>(i); }
};

TEST_CASE("max, min: NaN is the result where any rank has one, whichever it is") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<p, x>>;
  const auto check = [&]<class T>(T) {
    for (dm::index_t at = 0; at < 2 * g.ranks(); ++at) {
      const auto v = dm::generate<dm::tensor<T, L, p>>(g, nan_at<T>{at}, p{2 * g.ranks()});
      CHECK(std::isnan(dm::value(dm::complete(dm::max(v)))));
      CHECK(std::isnan(dm::value(dm::complete(dm::min(v)))));
      CHECK(std::isnan(dm::value(dm::max_all_reduce(v))));
      CHECK(std::isnan(dm::value(dm::min_all_reduce(v))));
    }
    const auto all = dm::generate<dm::tensor<T, L, p>>(g, counted<T>{}, p{2 * g.ranks()});
    CHECK(dm::value(dm::complete(dm::max(all))) == static_cast<T>(2 * g.ranks() - 1));
    CHECK(dm::value(dm::complete(dm::min(all))) == 0);
  };
  check(1.0f), check(1.0);
}

TEST_CASE("sum: counts truths, and a sum of whole values is counted once") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  dm::tensor<bool, L, p> b(g, p{100});
  dm::fill(b, true);
  const auto n = dm::complete(dm::sum<p>(b));
  static_assert(std::is_same_v<dm::value_of<decltype(n)>, dm::index_t>);
  CHECK(test_support::on_host(n)[0] == 100);

  dm::tensor<double, dm::layout<line, dm::partial<x>>, p> whole(g, p{5});
  for (index_t i = 0; i < 5; ++i) test_support::on_host(whole)[i] = 2;
  whole.set_once(1);
  const auto s = dm::sum<p>(whole);
  CHECK(s.once() == 1);
  CHECK(test_support::on_host(s)[0] == 10);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
#include "dimesh/op/softmax.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "support/laws.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

array apply1(const std::function<double(double)>& f, const array& a) {
  return map([&](const std::vector<double>& v) { return f(v[0]); }, {a});
}
double ratio(const std::vector<double>& v) { return v[0] / v[1]; }

/// exp(a) and its sum without `over`; the numbers are small.
array exponentials(const array& a) {
  return apply1([](double v) { return std::exp(v); }, a);
}

TEST_CASE("softmax and its kin: every layout, dims split or not") {
  for_each_case<plane, unevenly, p, q>({{6, 4}, {5, 3}, {1, 7}}, [](auto x, const array& a) {
    const array e = exponentials(a), s = sum({"p"}, e);
    CHECK(agrees(dm::softmax<q>(x), map(ratio, {e, s}), 1e-13));
    CHECK(agrees(dm::log_softmax<q>(x),
                 apply1([](double v) { return std::log(v); }, map(ratio, {e, s})), 1e-13));
    CHECK(agrees(dm::log_sum_exp<q>(x), apply1([](double v) { return std::log(v); }, s), 1e-13));
    CHECK(agrees(dm::softmax<p, q>(x), map(ratio, {e, sum({}, e)}), 1e-13));
  });
}

TEST_CASE("softmax: large, tiny and infinite numbers") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<q>, x>>;
  const double inf = HUGE_VAL;
  const auto of = [&](std::vector<double> v) {
    array a{{"p", "q"}, {1, static_cast<index_t>(v.size())}, v};
    return scattered<dm::tensor<double, L, p, q>>(g, a);
  };
  const auto row = [](std::vector<double> v) {
    return array{{"p", "q"}, {1, static_cast<index_t>(v.size())}, v};
  };
  const auto one = [](double v) { return array{{"p"}, {1}, {v}}; };
  CHECK(agrees(dm::softmax<q>(of({1e308, 1e308})), row({0.5, 0.5}), 1e-15));
  CHECK(agrees(dm::softmax<q>(of({-1e308, 0, -inf})), row({0, 1, 0}), 1e-15));
  CHECK(agrees(dm::log_softmax<q>(of({-1000, 0})), row({-1000, 0}), 1e-15));
  CHECK(agrees(dm::log_sum_exp<q>(of({1e4, 1e4})), one(1e4 + std::log(2.0)), 1e-15));
  CHECK(agrees(dm::log_sum_exp<q>(of({-inf, -inf, -inf})), one(-inf)));
  CHECK(agrees(dm::log_sum_exp<q>(of({0, inf, 3})), one(inf)));
}

TEST_CASE("softmax of whole numbers, whose exponentials no double holds") {
  for_each_grid<line>([](const dm::grid<line>& g) {
    const auto check = [&]<class T, class L>(dm::detail::tag<T>, dm::detail::tag<L>) {
      const array a{{"p", "q"}, {3, 2}, {1000, 1000, 1000, 0, -1000, -998}};
      const auto t = scattered<dm::tensor<T, L, p, q>>(g, a);
      const double e = std::exp(-2.0), log2 = std::log(2.0), log_e = std::log1p(e);
      CHECK(agrees(dm::softmax<q>(t),
                   array{a.dims, a.size, {0.5, 0.5, 1, 0, e / (1 + e), 1 / (1 + e)}}, 1e-15));
      CHECK(agrees(dm::log_softmax<q>(t),
                   array{a.dims, a.size, {-log2, -log2, 0, -1000, -2 - log_e, -log_e}}, 1e-15));
      CHECK(agrees(dm::log_sum_exp<q>(t), array{{"p"}, {3}, {1000 + log2, 1000, -998 + log_e}},
                   1e-15));
    };
    using whole = dm::layout<line>;
    using split = dm::layout<line, dm::split<dm::uneven<q>, x>>;
    check(dm::detail::tag<int>{}, dm::detail::tag<whole>{});
    check(dm::detail::tag<int>{}, dm::detail::tag<split>{});
    check(dm::detail::tag<std::int16_t>{}, dm::detail::tag<split>{});
  });
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: local device
#include "dimesh/op/rotary.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

struct head : dm::dim<> {};

array turned(const array& a, double base, index_t offset) {
  const auto h = static_cast<std::size_t>(a.place("head")),
             n = static_cast<std::size_t>(a.place("q"));
  const index_t half = a.size[h] / 2;
  return make(a.dims, a.size, [&](const extents& index) {
    extents other = index;
    const index_t i = index[h] % half;
    other[h] = index[h] < half ? index[h] + half : index[h] - half;
    const double angle =
        static_cast<double>(index[n] + offset) *
        std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(2 * half));
    const double sign = index[h] < half ? -1 : 1;
    return std::cos(angle) * value_at(a, a.dims, index) +
           sign * std::sin(angle) * value_at(a, a.dims, other);
  });
}

template <class L, class... D> void check(const names& dims, const extents& size) {
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    using X = dm::tensor<double, L, D...>;
    const array a = reals(dims, size, 1);
    const auto v = scattered<X>(g, a);
    CHECK(agrees(dm::rotary<q, head>(v), turned(a, 10000, 0), 1e-12));
    CHECK(agrees(dm::rotary<q, head>(v, 100, -70), turned(a, 100, -70), 1e-12));
    check_operation([](const auto& t) { return dm::rotary<q, head>(t, 500, 7); }, {}, {a}, v);
  });
}

TEST_CASE("rotary: positions are global, forward and backward") {
  using dm::split, dm::uneven, dm::layout;
  check<layout<plane>, p, q, r, head>({"p", "q", "r", "head"}, {2, 5, 3, 6});
  check<layout<plane, split<uneven<q>, x>>, p, q, r, head>({"p", "q", "r", "head"}, {2, 5, 3, 2});
  check<layout<plane, split<uneven<p>, y>, split<uneven<q>, x>>, p, q, head>({"p", "q", "head"},
                                                                             {3, 75, 4});
  check<layout<plane, dm::partial<x>, split<uneven<r>, y>>, r, q, head>({"r", "q", "head"},
                                                                        {3, 7, 4});
  check<layout<plane, split<uneven<q>, y, x>>, head, q, p>({"head", "q", "p"}, {8, 13, 2});
  check<layout<plane>, q, head>({"q", "head"}, {0, 4});
  check<layout<plane>, q, head>({"q", "head"}, {4, 0});
}

TEST_CASE(
    "rotary: what a position gives does not depend on the block; products of distance alone") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  using X = dm::tensor<float, L, q, head>;
  const array a = reals({"q", "head"}, {40, 8}, 3);
  const auto v = scattered<X>(g, a);
  const auto all = dm::rotary<q, head>(v, 10000, 1000);
  for (const index_t at : {1, 31, 32, 39}) {
    const auto one = scattered<X>(
        g,
        array{{"q", "head"}, {1, 8}, {a.values.begin() + at * 8, a.values.begin() + at * 8 + 8}});
    const auto alone = dm::rotary<q, head>(one, 10000, 1000 + at);
    CHECK(std::equal(test_support::on_host(alone).data(), test_support::on_host(alone).data() + 8,
                     test_support::on_host(all).data() + at * 8));
  }
  const auto product = [&](index_t i, index_t j) {
    const auto at = [&](index_t n) { return dm::rotary<q, head>(v, 10000, n); };
    const auto k = at(i), o = at(j);
    double sum = 0;
    for (int h = 0; h < 8; ++h)
      sum += double(test_support::on_host(k)[h]) * double(test_support::on_host(o)[8 + h]);
    return sum;
  };
  CHECK(product(3, 10) == doctest::Approx(product(203, 210)).scale(0).epsilon(1e-5));
}

TEST_CASE("rotary: an odd extent is refused") {
  const dm::grid<line> g;
  const auto v =
      scattered<dm::tensor<float, dm::layout<line>, q, head>>(g, reals({"q", "head"}, {2, 3}, 1));
  CHECK_THROWS_AS((dm::rotary<q, head>(v)), dm::error);
}

}  // namespace

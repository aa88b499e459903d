// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2
// Elements of a type of the user's own that has the operators: products, scans, what stands where
// in their order.
#include <doctest/doctest.h>

#include "dimesh/create.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/sort.hpp"
#include "dimesh/op/whole.hpp"

namespace {
namespace dm = dimesh;
struct row : dm::dim<6> {};
struct inner : dm::dim<3> {};
struct column : dm::dim<4> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using by_row = dm::layout<line, dm::split<row, ranks>>;
using whole = dm::layout<line>;

/// a + b sqrt(2): what a ring of numbers has, and no more: no +=.
struct surd {
  int a = 0, b = 0;
  surd() = default;
  constexpr surd(int n) : a(n) {}  // NOLINT: a number is one of them
  constexpr surd(int n, int m) : a(n), b(m) {}
  friend constexpr surd operator+(surd x, surd y) { return {x.a + y.a, x.b + y.b}; }
  friend constexpr surd operator*(surd x, surd y) {
    return {x.a * y.a + 2 * x.b * y.b, x.a * y.b + x.b * y.a};
  }
  friend constexpr bool operator==(surd x, surd y) = default;
  friend constexpr bool operator>(surd x, surd y) {
    return x.a + 1.4142135623730951 * x.b > y.a + 1.4142135623730951 * y.b;
  }
};

constexpr surd left(dm::index_t i, dm::index_t j) {
  return {static_cast<int>(i - j), static_cast<int>(2 * j - 1)};
}
constexpr surd right(dm::index_t j, dm::index_t k) {
  return {static_cast<int>(k + 1), static_cast<int>(j - k)};
}

TEST_CASE("of which products, sums and products so far, and one in their order are formed") {
  const dm::grid<line> g;
  const auto x = dm::generate<dm::tensor<surd, by_row, row, inner>>(
      g, [](dm::index_t i, dm::index_t j) { return left(i, j); });
  const auto w = dm::generate<dm::tensor<surd, whole, inner, column>>(
      g, [](dm::index_t j, dm::index_t k) { return right(j, k); });
  const auto y = dm::einsum<row, column>(x, w);
  const auto p = dm::prod<inner>(x);
  const auto sums = dm::cumsum<inner>(x), products = dm::cumprod<inner>(x);
  const auto totals = dm::sum<inner>(x);
  const auto greatest = dm::nth_largest<inner>(x, 0);
  for (dm::index_t i = 0; i < 6; ++i) {
    if (!p.holds(row{i})) continue;
    for (dm::index_t k = 0; k < 4; ++k) {
      surd want = 0;
      for (dm::index_t j = 0; j < 3; ++j) want = want + left(i, j) * right(j, k);
      CHECK(y.at(row{i}, column{k}) == want);
    }
    surd sum = 0, product = 1, most = left(i, 0);
    for (dm::index_t j = 0; j < 3; ++j) {
      sum = sum + left(i, j);
      product = product * left(i, j);
      if (left(i, j) > most) most = left(i, j);
      CHECK(sums.at(row{i}, inner{j}) == sum);
      CHECK(products.at(row{i}, inner{j}) == product);
    }
    CHECK(totals.at(row{i}) == sum);
    CHECK(p.at(row{i}) == product);
    CHECK(greatest.at(row{i}) == most);
  }
}

}  // namespace

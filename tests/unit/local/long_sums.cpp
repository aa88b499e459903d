// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of a million floats, however they lie, lose no more digits than short ones.
// least: -O1
// options: -O2
#include "dimesh/local/factored.hpp"
#include "dimesh/local/halves.hpp"
#include "dimesh/local/map_transpose_over.hpp"
#include "dimesh/local/moments.hpp"
#include "dimesh/local/pull_halves.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/local/statistics.hpp"

#include "support/plans.hpp"
#include "support/shuffled.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace dimesh_test;
using dimesh::local::loops;
using dimesh::local::plus;

namespace {

constexpr index_t many = 1'000'000;
/// Added one after another, a million of these are apart from their sum by 1e-5 and more of it.
constexpr double bound = 3e-6;

struct itself {
  template <class A> KOKKOS_FUNCTION auto operator()(A a) const { return a; }
};
struct product {
  template <class A, class B> KOKKOS_FUNCTION auto operator()(A a, B b) const { return a * b; }
};

std::vector<float> positive(index_t n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  std::uint32_t state = 1;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = 0.1f + 0.05f * static_cast<float>(state >> 8) / 16777216.0f;
  }
  return x;
}

template <class F> void for_elements(const loops<2>& l, const F& f) {
  const index_t all = l.size();
  for (index_t e = 0; e < all; ++e) {
    index_t rest = e, at[2] = {};
    for (int g = l.groups - 1; g >= 0; --g) {
      const index_t i = rest % l.extent[g];
      rest /= l.extent[g];
      for (int k = 0; k < 2; ++k) at[k] += i * l.stride[k][g];
    }
    f(static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1]));
  }
}
double apart(const std::vector<float>& got, const std::vector<double>& want) {
  double worst = 0;
  for (std::size_t k = 0; k < want.size(); ++k)
    worst = std::max(worst, std::abs(static_cast<double>(got[k]) - want[k]) / std::abs(want[k]));
  return worst;
}

/// Results, and from where to where they lie: columns, columns of tiles, one column whose terms lie
/// apart, transposed ones, and rows.
struct shape {
  index_t results;
  loops<2> l;
};
const shape shapes[] = {
    {3, {2, {many, 3}, {{0, 1}, {3, 1}}}},
    {6, {3, {2, many / 2, 3}, {{3, 0, 1}, {3 * many / 2, 3, 1}}}},
    {6, {3, {many / 2, 2, 3}, {{0, 3, 1}, {6, 3, 1}}}},
    {2, {3, {1000, 2, many / 1000}, {{0, 1, 0}, {2 * many / 1000, many / 1000, 1}}}},
    {4, {2, {many, 4}, {{0, 1}, {1, many}}}},
    {4, {2, {4, many}, {{1, 0}, {1, 4}}}},
    {1, {1, {4 * many}, {{0}, {1}}}},
};

template <class Space> void check_sums() {
  for (const shape& s : shapes) {
    const auto x = positive(s.l.size());
    std::vector<double> want(static_cast<std::size_t>(s.results));
    for_elements(s.l, [&](std::size_t y, std::size_t e) { want[y] += static_cast<double>(x[e]); });
    auto got = spoilt<float>(s.results);
    dimesh::local::map_reduce_over<Space>(plus{}, s.l, itself{}, got.data(), x.data());
    CHECK(apart(got, want) < bound);
  }
}

/// b's cotangent in y = x b is the sum of x ybar over what b lacks.
template <class Space> void check_cotangents() {
  for (const shape& s : shapes) {
    const auto x = positive(s.l.size());
    const auto b = std::vector<float>(static_cast<std::size_t>(s.results), 2.0f);
    std::vector<float> ones(x.size(), 1.0f), bar = spoilt<float>(s.results), xbar = x;
    loops<3> l;
    l.groups = s.l.groups;
    index_t dense = 1;
    for (int g = s.l.groups - 1; g >= 0; --g) {
      l.extent[g] = s.l.extent[g];
      l.stride[0][g] = dense;
      l.stride[1][g] = s.l.stride[1][g];
      l.stride[2][g] = s.l.stride[0][g];
      dense *= l.extent[g];
    }
    std::vector<double> want(b.size());
    for_elements(s.l, [&](std::size_t y, std::size_t e) { want[y] += static_cast<double>(x[e]); });
    dimesh::local::map_transpose_over<~0u, Space>(l, product{}, ones.data(),
                                                  std::array<void*, 2>{xbar.data(), bar.data()},
                                                  x.data(), b.data());
    CHECK(apart(bar, want) < bound);
    bool right = true;
    for (const float v : xbar) right = right && v == 2;
    CHECK(right);
  }
}

}  // namespace

TEST_CASE("long sums: of elements, on one thread and in pieces") {
  check_sums<Kokkos::Serial>();
  check_sums<threaded>();
}

TEST_CASE("long sums: of cotangents, on one thread and in pieces") {
  check_cotangents<Kokkos::Serial>();
  check_cotangents<threaded>();
}

TEST_CASE("long sums: of squared deviations") {
  for (const shape& s : shapes) {
    const auto x = positive(s.l.size());
    const auto n = static_cast<std::size_t>(s.results);
    std::vector<double> sum(n), want(n), mean(n);
    for_elements(s.l, [&](std::size_t y, std::size_t e) { sum[y] += static_cast<double>(x[e]); });
    const double each = static_cast<double>(s.l.size()) / static_cast<double>(n);
    for_elements(s.l, [&](std::size_t y, std::size_t e) {
      const double d = static_cast<double>(x[e]) - sum[y] / each;
      want[y] += d * d;
    });
    auto base = spoilt<float>(s.results), from = base, squares = base;
    dimesh::local::deviations(s.l, x.data(), base.data(), from.data(), squares.data(), s.results);
    CHECK(apart(squares, want) < bound);
    for (std::size_t k = 0; k < n; ++k)
      CHECK(std::abs(static_cast<double>(base[k]) + static_cast<double>(from[k]) - sum[k] / each) <
            1e-7);
  }
}

TEST_CASE("long sums: of squares by row and by column") {
  for (const dimesh::local::factored_extents& n :
       {dimesh::local::factored_extents{1, many, 1, 3, 1},
        {2, many / 4, 2, 2, 1},
        {1, many / 4, 1, 3, 2}}) {
    const auto g = positive(n.size());
    std::vector<double> columns(static_cast<std::size_t>(n.columns()));
    std::vector<double> totals(static_cast<std::size_t>(n.both()));
    for (index_t e = 0; e < n.size(); ++e) {
      const auto v = static_cast<double>(g[static_cast<std::size_t>(e)]);
      const auto at = dimesh::local::detail::factored_place(n, e);
      const index_t step = n.B * n.C;
      columns[static_cast<std::size_t>(at.column)] += v * v;
      totals[static_cast<std::size_t>(at.row / step / n.P * step + at.row % step)] += v * v;
    }
    auto row = spoilt<float>(n.rows()), column = spoilt<float>(n.columns());
    auto total = spoilt<float>(n.both());
    dimesh::local::factored_sums(n, g.data(), 0, row.data(), column.data());
    dimesh::local::factored_total(n, row.data(), total.data());
    CHECK(apart(column, columns) < bound);
    CHECK(apart(total, totals) < bound);
  }
}

TEST_CASE("long sums: of what batch norm hands back") {
  const loops<2> places[] = {{2, {many, 3}, {{0, 1}, {0, 1}}},
                             {3, {many / 10, 3, 10}, {{0, 1, 0}, {0, 1, 0}}}};
  for (const auto& l : places) {
    const auto ybar = positive(l.size()), x = positive(l.size());
    const std::vector<float> mean(3, 0.02f);
    std::vector<double> sums(3), alongs(3);
    loops<2> dense = l;
    for (int g = l.groups - 1, step = 1; g >= 0; step *= static_cast<int>(l.extent[g--]))
      dense.stride[1][g] = step;
    for_elements(dense, [&](std::size_t y, std::size_t e) {
      const auto g = static_cast<double>(ybar[e]);
      sums[y] += g, alongs[y] += g * (static_cast<double>(x[e]) - static_cast<double>(0.02f));
    });
    auto sum = spoilt<float>(3), along = sum;
    dimesh::local::moment_sums(l, ybar.data(), x.data(), mean.data(), sum.data(), along.data(), 3);
    CHECK(apart(sum, sums) < bound);
    CHECK(apart(along, alongs) < bound);
  }
}

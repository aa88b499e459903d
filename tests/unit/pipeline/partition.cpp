// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/pipeline/partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "dimesh/pipeline/slices.hpp"

namespace dm = dimesh;

namespace {

constexpr auto even = dm::partition<2>(std::array{5, 1, 1, 5});
static_assert(even == std::array{0, 2, 4});
constexpr std::array heavy{1.0, 9.0, 1.0, 1.0, 1.0, 1.0};
static_assert(dm::largest_cell(heavy, dm::partition<3>(heavy)) == 9);
constexpr auto long_tail = [](int before, int length) {
  return length * (1.0 + before + 0.5 * length);
};
static_assert(dm::slice_lengths(6, 3, long_tail).lengths.size() > 1);

/// All ways to cut n elements into contiguous, non-empty parts, as bits between them.
template <class F> void all_cuts(int n, const F& f) {
  for (unsigned cuts = 0; cuts < 1u << (n - 1); ++cuts) {
    std::vector<int> bounds{0};
    for (int i = 1; i < n; ++i)
      if (cuts >> (i - 1) & 1) bounds.push_back(i);
    bounds.push_back(n);
    f(bounds);
  }
}

}  // namespace

TEST_CASE("partition: no other cells have a cheaper most expensive one") {
  std::mt19937 draw(1);
  for (int n = 1; n <= 9; ++n)
    for (int round = 0; round < 20; ++round) {
      std::vector<int> costs;
      for (int i = 0; i < n; ++i)
        costs.push_back(static_cast<int>(draw() % (round < 10 ? 4 : 100)));
      std::vector<int> best(static_cast<std::size_t>(n) + 1, 1 << 20);
      all_cuts(n, [&](const std::vector<int>& bounds) {
        int& least = best[bounds.size() - 1];
        least = std::min(least, dm::largest_cell(costs, bounds));
      });
      for (int cells = 1; cells <= n; ++cells) {
        const auto bounds = dm::partition(costs, cells);
        REQUIRE(bounds.size() == static_cast<std::size_t>(cells) + 1);
        CHECK(bounds.front() == 0);
        CHECK(bounds.back() == n);
        CHECK(std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<int>()) ==
              bounds.end());
        CHECK(dm::largest_cell(costs, bounds) == best[static_cast<std::size_t>(cells)]);
      }
    }
  // Earlier stages hold more micro-batches, so they get less where it makes no difference.
  CHECK(dm::partition(std::vector{1, 1, 1, 1, 1}, 2) == std::vector{0, 2, 5});
  for (const int cells : {0, 3}) try {
      dm::partition(std::vector{1.0, 2.0}, cells);
      FAIL("no error");
    } catch (const dm::error& e) {
      CHECK(std::string(e.what()).find("there are fewer layers than cells, or no cells") !=
            std::string::npos);
    }
}

TEST_CASE("slice_lengths: no other slices take less time") {
  std::mt19937 draw(5);
  for (int n = 1; n <= 9; ++n)
    for (int stages = 1; stages <= 6; ++stages)
      for (int round = 0; round < 6; ++round) {
        std::vector<double> table;
        for (int i = 0; i < n * (n + 1); ++i) table.push_back(double(1 + draw() % 50));
        const auto cost = [&](int before, int length) {
          if (round < 3)  // attention: a start, the slice, and what it looks at
            return 4. * round + length * (1. + 0.5 * length + before);
          return table[static_cast<std::size_t>(before * (n + 1) + length)];
        };
        double best = 1e30;
        const auto time = [&](const std::vector<int>& bounds) {
          double sum = 0, most = 0;
          for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
            const double t = cost(bounds[i], bounds[i + 1] - bounds[i]);
            sum += t, most = std::max(most, t);
          }
          return sum + (stages - 1) * most;
        };
        all_cuts(n, [&](const std::vector<int>& bounds) { best = std::min(best, time(bounds)); });
        const auto plan = dm::slice_lengths(n, stages, cost);
        CHECK(plan.time == doctest::Approx(best));
        std::vector<int> bounds{0};
        for (const int length : plan.lengths) bounds.push_back(bounds.back() + length);
        CHECK(bounds.back() == n);
        CHECK(time(bounds) == doctest::Approx(best));
      }
  // One stage: no cut is worth its start. Many: later slices look at more, and are shorter.
  const auto attention = [](int before, int length) {
    return 1. + length * (1. + before + length);
  };
  CHECK(dm::slice_lengths(12, 1, [](int, int length) { return 5. + length; }).lengths ==
        std::vector{12});
  const auto many = dm::slice_lengths(24, 8, attention).lengths;
  CHECK(many.size() > 2);
  const auto longest = std::max_element(many.begin(), many.end());
  CHECK(longest < many.begin() + static_cast<long>(many.size() / 2));
  CHECK(many.back() < *longest);
}

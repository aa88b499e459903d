// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts of lines whose parts are in order: bounds hold the true cut, however few samples there are,
// and what lies between them gives it.
#include "dimesh/local/splitters.hpp"

#include <doctest/doctest.h>

#include <random>

namespace {
using dimesh::index_t;
namespace local = dimesh::local;
using before = local::detail::before<false>;

/// Parts in order, of numbers below `kinds`.
std::vector<std::vector<double>> parts_of(const std::vector<index_t>& n, int kinds, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<double>> parts;
  for (const index_t length : n) {
    auto& part = parts.emplace_back();
    for (index_t i = 0; i < length; ++i)
      part.push_back(static_cast<double>(random() % static_cast<unsigned>(kinds)));
    std::sort(part.begin(), part.end());
  }
  return parts;
}
/// How many of each part are among the first `target`.
std::vector<index_t> cut_of(const std::vector<std::vector<double>>& parts, index_t target) {
  std::vector<std::pair<double, std::size_t>> all;
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (const double v : parts[k]) all.emplace_back(v, k);
  std::sort(all.begin(), all.end());
  std::vector<index_t> cut(parts.size());
  for (index_t i = 0; i < target; ++i) ++cut[all[static_cast<std::size_t>(i)].second];
  return cut;
}

TEST_CASE("splitters: bounds hold the cut, and what lies between gives it") {
  unsigned seed = 0;
  for (const std::vector<index_t>& n :
       {std::vector<index_t>{5, 5, 5}, std::vector<index_t>{0, 9, 1},
        std::vector<index_t>{40, 3, 0, 17}, std::vector<index_t>{7}})
    for (const int kinds : {1, 2, 6, 1000})
      for (const index_t most : {index_t{1}, index_t{2}, index_t{5}, index_t{100}}) {
        const auto parts = parts_of(n, kinds, ++seed);
        std::vector<index_t> m;
        std::vector<double> samples;
        index_t all = 0;
        for (std::size_t k = 0; k < n.size(); ++k) {
          m.push_back(std::min(n[k], most));
          all += n[k];
          for (index_t j = 0; j < m[k]; ++j)
            samples.push_back(
                parts[k][static_cast<std::size_t>(local::sampled_place(j, n[k], m[k]))]);
        }
        const local::sampled_line<double, before> line(n, m, samples.data());
        for (index_t target = 0; target <= all; ++target) {
          std::vector<index_t> lo(n.size()), hi(n.size());
          line.bound(target, lo.data(), hi.data());
          const std::vector<index_t> cut = cut_of(parts, target);
          std::vector<double> between;
          bool held = true, exact = true;
          for (std::size_t k = 0; k < n.size(); ++k) {
            held = held && lo[k] <= cut[k] && cut[k] <= hi[k];
            exact = exact && lo[k] == hi[k];
            between.insert(between.end(), parts[k].begin() + lo[k], parts[k].begin() + hi[k]);
          }
          CHECK(held);
          if (most == 100 && target > 0 && target < all) CHECK(exact);  // all were told
          local::settle_cuts<before>(between.data(), target, n.size(), lo.data(), hi.data());
          CHECK(lo == cut);
        }
      }
}

}  // namespace

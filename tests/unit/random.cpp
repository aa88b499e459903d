// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace dm = dimesh;

namespace {

constexpr bool equal(dm::random_words a, dm::random_words b) {
  for (int i = 0; i < 4; ++i)
    if (a.word[i] != b.word[i]) return false;
  return true;
}

// The published known answers of philox4x32-10.
static_assert(equal(dm::detail::philox({{0, 0, 0, 0}}, 0, 0),
                    {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
static_assert(equal(dm::detail::philox({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
                                       0xffffffff, 0xffffffff),
                    {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
static_assert(equal(dm::detail::philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                                       0xa4093822, 0x299f31d0),
                    {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));

// A key's elements and its folds are the generator's output at their places.
static_assert(equal(dm::random_key{0}.at(0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
static_assert(!(dm::random_key{1}.fold(2) == dm::random_key{1}.fold(3)));
static_assert(!(dm::random_key{1}.fold(2) == dm::random_key{2}.fold(2)));
static_assert(dm::random_key{1}.fold(2) == dm::random_key{1}.fold(2));

struct moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};
moments moments_of(const std::vector<double>& x) {
  moments m;
  const double n = static_cast<double>(x.size());
  for (double v : x) m.mean += v / n;
  for (double v : x) {
    const double d = v - m.mean;
    m.variance += d * d / n;
    m.skew += d * d * d / n;
    m.kurtosis += d * d * d * d / n;
  }
  return m;
}

template <class T>
std::vector<double> draw(T (*f)(dm::random_key, dm::index_t), dm::random_key key) {
  std::vector<double> x(200000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = f(key, static_cast<dm::index_t>(i));
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("uniform_at: lies in [0, 1) and is uniform", T, float, double) {
  const auto x = draw<T>(&dm::uniform_at<T>, dm::random_key{7});
  CHECK(*std::min_element(x.begin(), x.end()) >= 0);
  CHECK(*std::max_element(x.begin(), x.end()) < 1);
  const moments m = moments_of(x);
  CHECK(m.mean == doctest::Approx(0.5).scale(0).epsilon(0.005));
  CHECK(m.variance == doctest::Approx(1.0 / 12).scale(0).epsilon(0.01));
  std::vector<int> bins(64);
  for (double v : x) ++bins[static_cast<std::size_t>(v * 64)];
  double chi2 = 0;
  for (int b : bins) chi2 += (b - 3125.0) * (b - 3125.0) / 3125.0;
  CHECK(chi2 < 120);  // 63 degrees of freedom: the 0.001 % quantile
  CHECK(chi2 > 25);
}

TEST_CASE_TEMPLATE("normal_at: has the moments of the normal distribution", T, float, double) {
  const auto x = draw<T>(&dm::normal_at<T>, dm::random_key{8});
  const moments m = moments_of(x);
  CHECK(std::abs(m.mean) < 0.01);
  CHECK(m.variance == doctest::Approx(1).scale(0).epsilon(0.015));
  CHECK(std::abs(m.skew) < 0.03);
  CHECK(m.kurtosis == doctest::Approx(3).scale(0).epsilon(0.03));
  for (double v : x) REQUIRE(std::isfinite(v));
  const auto beyond = std::count_if(x.begin(), x.end(), [](double v) { return std::abs(v) > 3; });
  CHECK(beyond > 440);  // 540 expected
  CHECK(beyond < 640);
}

TEST_CASE("keys: folds and seeds give unrelated numbers, far indices too") {
  std::set<float> seen;
  int drawn = 0;
  const dm::random_key key{3};
  for (dm::index_t far : {dm::index_t{0}, dm::index_t{1} << 32, dm::index_t{1} << 40})
    for (std::uint64_t n = 0; n < 10; ++n)
      for (dm::index_t i = 0; i < 10; ++i, ++drawn)
        seen.insert(dm::uniform_at<float>(key.fold(n), far + i));
  CHECK(static_cast<int>(seen.size()) >= drawn - 1);
  double correlation = 0;
  for (dm::index_t i = 0; i < 100000; ++i)
    correlation +=
        dm::normal_at<double>(key.fold(0), i) * dm::normal_at<double>(key.fold(1), i) / 1e5;
  CHECK(std::abs(correlation) < 0.015);
}

TEST_CASE("uniform_at: the double is finer than the float, from the same element") {
  const double d = dm::uniform_at<double>(dm::random_key{5}, 9);
  CHECK(d != static_cast<double>(static_cast<float>(d)));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distributions against their distribution functions, by Kolmogorov and Smirnov; permutations are
// bijections, and of few elements all orders are equally likely. Keys are fixed: what passes once
// passes always.
// options: -O2
#include "dimesh/random/distributions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "dimesh/error.hpp"
#include "dimesh/random/permutation.hpp"

namespace {

namespace dm = dimesh;
using dm::index_t;

constexpr std::size_t count = 100000;

std::vector<double> drawn(const std::function<double(index_t)>& f) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = f(static_cast<index_t>(i));
  return x;
}
/// sqrt(n) times the largest distance of the numbers' distribution from the given one: above 2.23
/// in one of 10^4 cases.
double distance(std::vector<double> x, const std::function<double(double)>& below) {
  std::sort(x.begin(), x.end());
  double most = 0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = below(x[i]), rank = static_cast<double>(i);
    most = std::max({most, p - rank / n, (rank + 1) / n - p});
  }
  return most * std::sqrt(n);
}
double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
double variance_of(const std::vector<double>& x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size());
}
double normal_below(double z) { return 0.5 * std::erfc(-z * 0.70710678118654752440); }
/// The gamma distribution function by its power series.
double gamma_below(double a, double x) {
  if (x <= 0) return 0;
  double term = 1 / a, sum = term;
  for (double k = a + 1; term > sum * 1e-16; ++k) sum += term *= x / k;
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}
/// Pearson's statistic of counts that should be alike, in standard deviations from its mean.
double unevenness(const std::vector<int>& seen) {
  double total = 0, chi2 = 0;
  for (const int n : seen) total += n;
  const double expected = total / static_cast<double>(seen.size());
  for (const int n : seen) chi2 += (n - expected) * (n - expected) / expected;
  const double freedom = static_cast<double>(seen.size()) - 1;
  return (chi2 - freedom) / std::sqrt(2 * freedom);
}

TEST_CASE("normal_quantile: undoes the distribution function, far out too") {
  for (const double p : {1e-15, 1e-12, 1.3e-11, 1.5e-11, 1e-6, 0.01, 0.0749, 0.0751, 0.3, 0.4999}) {
    CAPTURE(p);
    const double q = p - 0.5, exact = q + 0.5;  // what is left of p
    CHECK(normal_below(dm::detail::normal_quantile(q)) ==
          doctest::Approx(exact).epsilon(2e-13).scale(0));
    CHECK(dm::detail::normal_quantile(-q) == -dm::detail::normal_quantile(q));
  }
  CHECK(dm::detail::normal_quantile(0) == 0);
}

TEST_CASE("bernoulli_at: as often as the probability says, never at 0, always at 1") {
  const dm::random_key key{21};
  for (const double p : {0.0, 0.01, 0.25, 0.5, 0.9, 1.0}) {
    CAPTURE(p);
    const auto x = drawn([&](index_t i) { return dm::bernoulli_at(key, i, p) ? 1.0 : 0.0; });
    CHECK(std::abs(mean_of(x) - p) <= 4 * std::sqrt(p * (1 - p) / count));
  }
}

TEST_CASE("exponential_at: its distribution; a float is the double rounded") {
  const dm::random_key key{22};
  const auto x = drawn([&](index_t i) { return dm::exponential_at<double>(key, i); });
  CHECK(distance(x, [](double v) { return 1 - std::exp(-v); }) < 1.95);
  CHECK(*std::min_element(x.begin(), x.end()) > 0);
  CHECK(mean_of(x) == doctest::Approx(1).epsilon(0.01));
  for (index_t i = 0; i < 100; ++i)
    CHECK(dm::exponential_at<float>(key, i) ==
          static_cast<float>(dm::exponential_at<double>(key, i)));
}

TEST_CASE("truncated_normal_at: the normal distribution between its bounds") {
  const dm::random_key key{23};
  for (const double bound : {0.1, 1.0, 2.0, 5.0, 12.0}) {
    CAPTURE(bound);
    const auto x = drawn([&](index_t i) { return dm::truncated_normal_at<double>(key, i, bound); });
    const double mass = std::erf(bound / std::sqrt(2.0));
    CHECK(distance(x, [&](double v) {
            return std::clamp((normal_below(v) - normal_below(-bound)) / mass, 0.0, 1.0);
          }) < 1.95);
    CHECK(*std::max_element(x.begin(), x.end()) <= bound);
    CHECK(*std::min_element(x.begin(), x.end()) >= -bound);
    if (bound == 2) CHECK(std::sqrt(variance_of(x)) == doctest::Approx(0.8796).epsilon(0.01));
  }
}

TEST_CASE("gamma_at: the distribution of small and large shapes") {
  const dm::random_key key{24};
  for (const double shape : {0.05, 0.3, 1.0, 2.5, 40.0}) {
    CAPTURE(shape);
    const auto x = drawn([&](index_t i) { return dm::gamma_at<double>(key, i, shape); });
    CHECK(distance(x, [&](double v) { return gamma_below(shape, v); }) < 1.95);
    CHECK(*std::min_element(x.begin(), x.end()) >= 0);
    CHECK(mean_of(x) == doctest::Approx(shape).epsilon(4 / std::sqrt(shape * count)));
    CHECK(variance_of(x) == doctest::Approx(shape).epsilon(0.1));
  }
  CHECK(std::isfinite(dm::gamma_at<double>(key, 0, 1e-300)));
  CHECK(dm::gamma_at<double>(key, 0, 1e15) == doctest::Approx(1e15).epsilon(1e-6));
}

TEST_CASE("random_key: further bits of an element are others, and meet no other element") {
  const dm::random_key key{25};
  CHECK(key.at(3, 0).word[0] == key.at(3).word[0]);
  CHECK(key.at(3, 1).word[0] != key.at(3).word[0]);
  double correlation = 0;
  for (index_t i = 0; i < 100000; ++i) {
    const auto centered = [](std::uint32_t w) { return w * 0x1p-32 - 0.5; };
    correlation += 12e-5 * centered(key.at(i).word[0]) * centered(key.at(i, 1).word[0]);
  }
  CHECK(std::abs(correlation) < 0.013);
}

TEST_CASE("random_permutation: a bijection of 0 .. n-1 for every n, and its inverse") {
  for (index_t n = 0; n <= 2000; ++n) {
    const dm::random_permutation order(dm::random_key{static_cast<std::uint64_t>(n)}, n);
    std::vector<char> met(static_cast<std::size_t>(n));
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      const index_t k = order(i);
      if (k < 0 || k >= n)
        ++wrong;
      else
        wrong += met[static_cast<std::size_t>(k)]++ + (order.inverse(k) != i);
    }
    CHECK_MESSAGE(wrong == 0, "n = ", n);
  }
  for (const index_t n : {index_t{1} << 31, (index_t{1} << 40) + 1, index_t{1} << 62}) {
    const dm::random_permutation order(dm::random_key{1}, n);
    index_t at[8], number[8];
    for (index_t i = 0; i < 8; ++i) at[i] = n - 1 - i * (n / 9);
    order.at(at, number);
    for (int i = 0; i < 8; ++i) {
      CHECK((number[i] >= 0 && number[i] < n));
      CHECK(number[i] == order(at[i]));
      CHECK(order.inverse(number[i]) == at[i]);
    }
  }
  CHECK_THROWS_WITH_AS(dm::random_permutation(dm::random_key{1}, -1),
                       doctest::Contains("of -1 elements; give 0 or more"), dm::error);
}

TEST_CASE("random_permutation: of few elements every order comes up equally often") {
  for (const index_t n : {2, 3, 4, 5, 6}) {
    CAPTURE(n);
    std::map<std::vector<index_t>, int> seen;
    std::vector<index_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), index_t{0});
    do seen[all] = 0;
    while (std::next_permutation(all.begin(), all.end()));
    for (std::uint64_t seed = 0; seed < 150000; ++seed) {
      const dm::random_permutation order(dm::random_key{seed}, n);
      for (index_t i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = order(i);
      ++seen[all];
    }
    std::vector<int> counts;
    for (const auto& s : seen) counts.push_back(s.second);
    CHECK(std::abs(unevenness(counts)) < 4);
  }
}

TEST_CASE("random_permutation: places, pairs of neighbours, both parities") {
  constexpr index_t n = 50;
  std::vector<int> first(n), apart(n - 1);
  for (std::uint64_t seed = 0; seed < 100000; ++seed) {
    const dm::random_permutation order(dm::random_key{seed}, n);
    ++first[static_cast<std::size_t>(order(7))];
    // from one place's number to the next one's, around the end: never 0
    ++apart[static_cast<std::size_t>((order(8) - order(7) + n) % n - 1)];
  }
  CHECK(std::abs(unevenness(first)) < 4);
  CHECK(std::abs(unevenness(apart)) < 4);
  int odd = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const dm::random_permutation order(dm::random_key{seed}, 16);
    int turned = 0;
    for (index_t i = 0; i < 16; ++i)
      for (index_t j = 0; j < i; ++j) turned += order(j) > order(i) ? 1 : 0;
    odd += turned % 2;
  }
  CHECK(std::abs(odd - 2000) < 4 * 32);
  double correlation = 0;  // of neighbours in one long order
  constexpr index_t many = 100003;
  const dm::random_permutation order(dm::random_key{9}, many);
  for (index_t i = 0; i + 1 < many; ++i) {
    const auto centered = [](index_t v) { return static_cast<double>(v) / many - 0.5; };
    correlation += 12.0 / many * centered(order(i)) * centered(order(i + 1));
  }
  CHECK(std::abs(correlation) < 0.013);
}

}  // namespace

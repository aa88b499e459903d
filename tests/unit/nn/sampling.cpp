// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/nn/generate/sampling.hpp"

#include <doctest/doctest.h>

namespace {

using dimesh::index_t;
using dimesh::random_key;
using dimesh::nn::draw_symbol;
using dimesh::nn::sampling;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// How often each symbol is drawn in n draws.
std::vector<int> draws(const std::vector<float>& logits, int n, const sampling& how) {
  std::vector<int> hits(logits.size(), 0);
  for (int i = 0; i < n; ++i) {
    const auto at = draw_symbol(logits, random_key{3}.fold(static_cast<std::uint64_t>(i)), how);
    REQUIRE(at >= 0);
    REQUIRE(at < static_cast<index_t>(logits.size()));
    ++hits[static_cast<std::size_t>(at)];
  }
  return hits;
}

/// Within five standard deviations of what the probabilities expect.
bool follow(const std::vector<int>& hits, const std::vector<double>& weights) {
  double total = 0, n = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) total += weights[i], n += hits[i];
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const double p = weights[i] / total;
    if (std::abs(hits[i] - n * p) > 5 * std::sqrt(n * p * (1 - p))) return false;
  }
  return true;
}

TEST_CASE("draw_symbol: a function of logits and key") {
  const std::vector<float> logits(256, 0.5f);
  const random_key key{9};
  CHECK(draw_symbol(logits, key) == draw_symbol(logits, key));
  bool differs = false;
  for (std::uint64_t n = 0; n < 10; ++n)
    differs = differs || draw_symbol(logits, key.fold(n)) != draw_symbol(logits, key);
  CHECK(differs);
}

TEST_CASE("draw_symbol: follows the softmax, sharper where it is colder") {
  const std::vector<float> logits = {1, 3, 2, -infinity, 2};
  const auto weights = [&](double temperature) {
    std::vector<double> w;
    for (const float l : logits) w.push_back(std::exp(l / temperature));
    return w;
  };
  CHECK(follow(draws(logits, 20000, {}), weights(1)));
  CHECK(follow(draws(logits, 20000, {.temperature = 0.5}), weights(0.5)));
  CHECK(follow(draws(logits, 20000, {.temperature = 4}), weights(4)));
  CHECK_FALSE(follow(draws(logits, 20000, {.temperature = 4}), weights(1)));
  CHECK(draws(logits, 100, {.temperature = 0})[1] == 100);
  CHECK(draws(logits, 100, {.temperature = 1e-6})[1] == 100);
}

TEST_CASE("draw_symbol: the likeliest symbols only, the first of equals") {
  const std::vector<float> logits = {1, 3, 2, 2, 2, 0};
  const double e1 = std::exp(3.0), e2 = std::exp(2.0);
  CHECK(draws(logits, 100, {.top_k = 1})[1] == 100);
  CHECK(follow(draws(logits, 20000, {.top_k = 2}), {0, e1, e2, 0, 0, 0}));
  CHECK(follow(draws(logits, 20000, {.top_k = 3}), {0, e1, e2, e2, 0, 0}));
  CHECK(follow(draws(logits, 20000, {.top_k = 5}), {std::exp(1.0), e1, e2, e2, e2, 0}));
  const std::vector<double> all = {std::exp(1.0), e1, e2, e2, e2, 1};
  CHECK(follow(draws(logits, 20000, {.top_k = 6}), all));
  CHECK(follow(draws(logits, 20000, {.top_k = 100}), all));
}

TEST_CASE("draw_symbol: large logits, one logit, and none that is a number") {
  CHECK(draw_symbol(std::vector<float>{7}, random_key{1}) == 0);
  CHECK(follow(draws({1e30f, 1e30f}, 1000, {}), {1, 1}));
  CHECK(draws({-3e38f, 3e38f}, 100, {})[1] == 100);
  for (const std::vector<float>& bad :
       {std::vector<float>{}, {-infinity, -infinity}, {1, infinity}, {1, std::nanf("")}}) {
    CHECK_THROWS_AS(draw_symbol(bad, random_key{1}), dimesh::error);
    CHECK_THROWS_AS(draw_symbol(bad, random_key{1}, {.temperature = 0}), dimesh::error);
  }
}

TEST_CASE("draw_symbol: what top-k and top-p leave, and how often") {
  const std::vector<float> logits{std::log(0.5f), std::log(0.2f), std::log(0.2f), std::log(0.1f)};
  const auto counts = [&](const sampling& how) {
    std::vector<int> n(4);
    for (std::uint64_t i = 0; i < 4000; ++i)
      ++n[static_cast<std::size_t>(draw_symbol(logits, random_key(3).fold(i), how))];
    return n;
  };
  const auto all = counts({});
  const double expected[] = {0.5, 0.2, 0.2, 0.1};
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(all[i] - 4000 * expected[i]) < 150);
  const auto half = counts({.top_p = 0.6});  // 0.5 do not suffice: the first of the two equal ones
  CHECK((half[2] == 0 && half[3] == 0 && std::abs(half[0] - 4000 * 5.0 / 7) < 150));
  const auto two = counts({.top_k = 2});
  CHECK((two[2] == 0 && two[3] == 0 && two[1] > 0));
  CHECK(counts({.top_p = 0.1})[0] == 4000);
  CHECK(counts({.temperature = 0})[0] == 4000);
  const std::vector<float> bad{0, std::nanf("")};
  CHECK_THROWS_WITH_AS((void)draw_symbol(bad, random_key(1)),
                       doctest::Contains("draw_symbol: the logits are not numbers"), dimesh::error);
}

}  // namespace

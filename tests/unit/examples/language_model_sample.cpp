// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/language_model/sample.hpp"

#include <doctest/doctest.h>

namespace {

using dimesh::index_t;
using dimesh::random_key;
using text::draw_symbol;
using text::sampling;

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

}  // namespace

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

TEST_CASE("continue_text: each symbol sees those before it") {
  const auto next_letter = [](std::string_view so_far) {
    std::vector<float> logits(256, -infinity);
    logits[static_cast<std::size_t>(so_far.back() + 1)] = 0;
    return logits;
  };
  CHECK(text::continue_text("xya", 4, random_key{1}, {}, next_letter) == "xyabcde");
  CHECK(text::continue_text("x", 0, random_key{1}, {}, next_letter) == "x");
  const auto uniform = [](std::string_view) { return std::vector<float>(256, 0); };
  const auto one = text::continue_text("", 40, random_key{1}, {}, uniform);
  CHECK(one == text::continue_text("", 40, random_key{1}, {}, uniform));
  CHECK(one != text::continue_text("", 40, random_key{2}, {}, uniform));
}

TEST_CASE("readable: no control characters but line ends") {
  CHECK(text::readable("a\n\x1b[1mb\x7f\xc3\xa9\r") == "a\n?[1mb?\xc3\xa9?");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which symbol comes next? The likeliest, or one drawn by its probability, perhaps of the likeliest
// few. A draw is a function of logits and key alone: ranks with the same logits draw the same.
//
//   draw_symbol(logits, key, {.temperature = 0.8, .top_k = 40, .top_p = 0.9})  -> index of a logit
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "dimesh/detail/number_given.hpp"
#include "dimesh/random.hpp"

namespace dimesh::nn {

struct sampling {
  double temperature = 1;  ///< divides the logits; 0: always the likeliest symbol
  index_t top_k = 0;  ///< only so many of the likeliest symbols; 0: all of them
  double top_p = 1;  ///< only the fewest likeliest whose probabilities sum to this; 1: all of them
};

namespace detail {
/// Throws dimesh::error where a number is out of its range.
inline void require_sampling(const sampling& how) {
  using namespace dimesh::detail;
  require_not_negative("draw_symbol", "temperature", how.temperature);
  require_not_negative("draw_symbol", "top_k", static_cast<double>(how.top_k));
  require_part("draw_symbol", "top_p", how.top_p);
}
}  // namespace detail

/// The index of one of the logits, i with probability exp(logits[i] / temperature) / sum (softmax;
/// top-k: Fan, Lewis and Dauphin 2018, "Hierarchical neural story generation"; top-p: Holtzman et
/// al. 2020, "The curious case of neural text degeneration", section 3.1, of what top-k leaves). Of
/// equal logits, the first ones count as greater. Throws dimesh::error where no logit is finite or
/// one is not a number, where temperature or top_k is negative, or top_p not from 0 to 1.
template <class T>
index_t draw_symbol(std::span<const T> logits, random_key key, const sampling& how = {}) {
  const auto greatest = std::max_element(logits.begin(), logits.end());
  if (logits.empty() || !std::isfinite(*greatest) ||
      std::any_of(logits.begin(), logits.end(), [](T l) { return std::isnan(l); }))
    throw error("draw_symbol: the logits are not numbers of which the greatest is finite");
  detail::require_sampling(how);
  if (how.temperature == 0) return greatest - logits.begin();

  std::vector<index_t> order(logits.size());
  std::iota(order.begin(), order.end(), index_t{0});
  const auto at = [&logits](index_t i) { return logits[static_cast<std::size_t>(i)]; };
  const auto greater = [&at](index_t i, index_t j) {
    return at(i) > at(j) || (at(i) == at(j) && i < j);
  };
  const auto count = static_cast<index_t>(logits.size());
  const bool some = how.top_k > 0 && how.top_k < count, sorts = how.top_p < 1;
  if (some) {
    std::nth_element(order.begin(), order.begin() + (how.top_k - 1), order.end(), greater);
    order.resize(static_cast<std::size_t>(how.top_k));
  }
  if (sorts)
    std::sort(order.begin(), order.end(), greater);
  else if (some)
    std::sort(order.begin(), order.end());  // draws go through symbols in their order
  std::vector<double> weights(order.size());
  double total = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    total += weights[i] = std::exp(
        (static_cast<double>(at(order[i])) - static_cast<double>(*greatest)) / how.temperature);
  if (sorts) {
    double sum = 0;
    std::size_t n = 0;
    do sum += weights[n++];
    while (n < weights.size() && sum < how.top_p * total);
    order.resize(n), weights.resize(n);
    total = sum;
  }
  double left = uniform_at<double>(key, 0) * total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    if (left < weights[i]) return order[i];
    left -= weights[i];
  }
  return greatest - logits.begin();  // rounding left a remainder
}

template <class T>
index_t draw_symbol(const std::vector<T>& logits, random_key key, const sampling& how = {}) {
  return draw_symbol(std::span(logits), key, how);
}

}  // namespace dimesh::nn

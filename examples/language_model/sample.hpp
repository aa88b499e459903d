// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the model write? Symbol after symbol, each drawn by its probability. A draw is a
// function of logits and key alone: ranks with the same logits write the same text.
//
//   draw_symbol(logits, key, {.temperature = 0.8, .top_k = 40})   -> index of a logit
//   continue_text("In the ", 200, key, {}, predict)    // predict(text so far) -> the next logits
#pragma once

#include <algorithm>
#include <cmath>
#include <dimesh/error.hpp>
#include <dimesh/random.hpp>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace text {

struct sampling {
  double temperature = 1;  ///< divides the logits; 0: always the likeliest symbol
  dimesh::index_t top_k = 0;  ///< only so many of the likeliest symbols; 0: all of them
};

namespace detail {

/// The k-th greatest logit, and how many of those equal to it belong to the k greatest.
inline std::pair<float, dimesh::index_t> threshold(std::span<const float> logits,
                                                   dimesh::index_t k) {
  std::vector<float> order(logits.begin(), logits.end());
  const auto kth = order.begin() + (k - 1);
  std::nth_element(order.begin(), kth, order.end(), std::greater<>{});
  return {*kth, std::count(order.begin(), kth + 1, *kth)};
}

}  // namespace detail

/// The index of one of the logits, i with probability exp(logits[i] / temperature) / sum (softmax;
/// top-k: Fan, Lewis and Dauphin 2018, "Hierarchical neural story generation"). Of equal logits,
/// the first ones count as greater. Throws dimesh::error where no logit is finite or one is not a
/// number.
inline dimesh::index_t draw_symbol(std::span<const float> logits, dimesh::random_key key,
                                   const sampling& how = {}) {
  const auto count = static_cast<dimesh::index_t>(logits.size());
  const auto greatest = std::max_element(logits.begin(), logits.end());
  if (count == 0 || !std::isfinite(*greatest) ||
      std::any_of(logits.begin(), logits.end(), [](float l) { return std::isnan(l); }))
    throw dimesh::error("draw_symbol: the logits are not numbers of which the greatest is finite");
  if (how.temperature <= 0) return greatest - logits.begin();

  auto [least, ties] = how.top_k > 0 && how.top_k < count
                           ? detail::threshold(logits, how.top_k)
                           : std::pair(-std::numeric_limits<float>::infinity(), count);
  std::vector<double> weights(logits.size());
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] < least || (logits[i] == least && ties-- <= 0)) continue;
    weights[i] = std::exp((static_cast<double>(logits[i]) - *greatest) / how.temperature);
    total += weights[i];
  }
  double left = dimesh::uniform_at<double>(key, 0) * total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    if (left < weights[i]) return static_cast<dimesh::index_t>(i);
    left -= weights[i];
  }
  return greatest - logits.begin();  // rounding left a remainder
}

/// The prompt and `count` bytes more. predict(std::string_view) -> something that a
/// std::span<const float> can be made of, one logit for each byte value.
template <class Predict>
std::string continue_text(std::string prompt, dimesh::index_t count, dimesh::random_key key,
                          const sampling& how, const Predict& predict) {
  for (dimesh::index_t n = 0; n < count; ++n) {
    const auto& logits = predict(std::string_view(prompt));
    const auto symbol = draw_symbol(logits, key.fold(static_cast<std::uint64_t>(n)), how);
    prompt.push_back(static_cast<char>(symbol));
  }
  return prompt;
}

/// For a terminal: control characters other than line ends become question marks.
inline std::string readable(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) c = '?';
  return text;
}

}  // namespace text

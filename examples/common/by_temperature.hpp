// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often does each of several languages have its turn? With a chance that grows as its number of
// pairs to the power 1 / temperature: 1 draws them as often as they are, more makes them alike.
//
//   const auto up_to = text::chances_up_to({900, 100}, 2);   -> {0.75, 1}: 30 to 10
//   text::drawn_at(up_to, 0.8)                               -> 1: the second one
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace text {

/// The sums of the chances of a language and of those before it; the last one is 1.
inline std::vector<double> chances_up_to(const std::vector<std::size_t>& pairs,
                                         double temperature) {
  std::vector<double> up_to;
  double sum = 0;
  for (const std::size_t n : pairs)
    up_to.push_back(sum += std::pow(static_cast<double>(n), 1 / temperature));
  for (double& p : up_to) p /= sum;
  return up_to;
}
/// The language that a number of [0, 1) draws.
inline std::size_t drawn_at(const std::vector<double>& up_to, double number) {
  return static_cast<std::size_t>(std::upper_bound(up_to.begin(), up_to.end() - 1, number) -
                                  up_to.begin());
}

}  // namespace text

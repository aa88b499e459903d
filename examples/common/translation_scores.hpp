// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How good are translations beside those of people? By what they have in common: runs of words
// (BLEU: Papineni et al. 2002) or of characters (chrF: Popovic 2015). Both from 0 to 100, of all
// sentences together; found[i] is what was written where wanted[i] is right.
//
//   bleu({"the cat sat on the mat"}, {"the cat sat on a mat"})    -> 53.7
//   chrf({"abcd"}, {"abce"})                                      -> 47.92
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace report {

using pieces = std::vector<std::string_view>;

/// Words: runs of letters, digits and bytes above 127; any other sign is a word of its own.
inline pieces words_of(std::string_view text) {
  const auto inside = [](char c) {
    const auto b = static_cast<unsigned char>(c);
    return b > 127 || (b >= '0' && b <= '9') || ((b | 32) >= 'a' && (b | 32) <= 'z');
  };
  pieces all;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (inside(text[i]) && end < text.size() && inside(text[end])) ++end;
    if (text[i] != ' ') all.push_back(text.substr(i, end - i));
    i = end;
  }
  return all;
}
/// Characters of UTF-8, without spaces.
inline pieces characters_of(std::string_view text) {
  pieces all;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    if (text[i] != ' ') all.push_back(text.substr(i, end - i));
    i = end;
  }
  return all;
}

/// How many runs of n pieces were found, wanted, and both.
struct run_counts {
  double found = 0, wanted = 0, both = 0;

  void add(const pieces& f, const pieces& w, std::size_t n) {
    std::map<pieces, int> left;
    for (std::size_t i = 0; i + n <= w.size(); ++i) ++left[run(w, i, n)], ++wanted;
    for (std::size_t i = 0; i + n <= f.size(); ++i, ++found)
      if (const auto at = left.find(run(f, i, n)); at != left.end() && at->second > 0)
        --at->second, ++both;
  }

 private:
  static pieces run(const pieces& p, std::size_t i, std::size_t n) {
    const auto first = p.begin() + static_cast<std::ptrdiff_t>(i);
    return {first, first + static_cast<std::ptrdiff_t>(n)};
  }
};

/// Counts of runs of 1 .. N pieces over all sentences.
template <std::size_t N, class Cut>
std::array<run_counts, N> count_runs(const std::vector<std::string>& found,
                                     const std::vector<std::string>& wanted, const Cut& cut) {
  std::array<run_counts, N> counts;
  for (std::size_t i = 0; i < std::min(found.size(), wanted.size()); ++i) {
    const pieces f = cut(found[i]), w = cut(wanted[i]);
    for (std::size_t n = 0; n < N; ++n) counts[n].add(f, w, n + 1);
  }
  return counts;
}

/// Of runs of one to four words, the geometric mean of the parts that are right; less where fewer
/// words were written than are wanted. Nothing is smoothed: 0 where no run of four is right.
inline double bleu(const std::vector<std::string>& found, const std::vector<std::string>& wanted) {
  const auto counts = count_runs<4>(found, wanted, words_of);
  double logs = 0;
  for (const auto& c : counts) {
    if (c.both == 0) return 0;
    logs += std::log(c.both / c.found);
  }
  return 100 * std::exp(logs / 4 + std::min(0.0, 1 - counts[0].wanted / counts[0].found));
}

/// Of runs of one to six characters: the means of the parts that are right, and of those wanted
/// that were found, of which the second counts twice as much (F with beta 2). Runs longer than all
/// sentences are left out.
inline double chrf(const std::vector<std::string>& found, const std::vector<std::string>& wanted) {
  double precision = 0, recall = 0, orders = 0;
  for (const auto& c : count_runs<6>(found, wanted, characters_of)) {
    if (c.found == 0 || c.wanted == 0) continue;
    precision += c.both / c.found;
    recall += c.both / c.wanted;
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 100 * 5 * precision * recall / (4 * precision + recall);
}

}  // namespace report

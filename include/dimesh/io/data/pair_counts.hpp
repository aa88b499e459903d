// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which words does a text have, and which two neighbouring symbols come most often in them? Counts
// are kept while symbols merge: a merge looks at the words that have its pair, and at no others.
//
//   for_each_word("low lower", f)       -> f("low"), f(" lower")
//   pair_counts c(text);  c.best(p);  c.merge(p, 256);
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "dimesh/detail/config.hpp"

namespace dimesh::input {

namespace detail {

inline constexpr std::size_t longest_word = 64;

/// Space, letter, digit, other.
inline int kind_of_byte(char c) {
  const auto b = static_cast<unsigned char>(c);
  if (b == ' ' || (b >= 9 && b <= 13)) return 0;
  if (b >= 128 || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')) return 1;
  return b >= '0' && b <= '9' ? 2 : 3;
}
/// Calls f(word) for the words of a text, which are all of it.
template <class F> void for_each_word(std::string_view text, const F& f) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    // One space belongs to the word behind it; several of them are a word, but for the last.
    if (text[at] == ' ' && at + 1 < text.size() && kind_of_byte(text[at + 1]) != 0) ++end;
    const int kind = kind_of_byte(text[end]);
    while (end < text.size() && kind_of_byte(text[end]) == kind && end - at < longest_word) ++end;
    if (kind == 0 && end < text.size() && end - at > 1 && text[end - 1] == ' ' &&
        kind_of_byte(text[end]) != 0)
      --end;
    f(text.substr(at, end - at));
    at = end;
  }
}

inline std::uint64_t text_sum(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

using symbol = std::int32_t;
using symbol_pair = std::pair<symbol, symbol>;
inline std::uint64_t key_of(symbol_pair p) {
  return std::uint64_t{static_cast<std::uint32_t>(p.first)} << 32 |
         static_cast<std::uint32_t>(p.second);
}

/// Finds merges: words with how often each comes, pairs with how often and in which words.
class pair_counts {
 public:
  explicit pair_counts(std::string_view text) {
    std::map<std::string_view, index_t> count;
    for_each_word(text, [&](std::string_view w) { ++count[w]; });
    for (const auto& [w, n] : count) {
      std::vector<symbol> s;
      for (const char c : w) s.push_back(static_cast<unsigned char>(c));
      words_.push_back({std::move(s), n});
      for_pairs(words_.size() - 1, 1);
    }
    for (const auto& [p, n] : pairs_) queue_.push({n.count, p});
  }
  /// The pair that comes most often; false where none comes twice.
  bool best(symbol_pair& p) {
    while (!queue_.empty()) {
      const auto [n, top] = queue_.top();
      const auto now = pairs_.find(top);
      if (n >= 2 && now != pairs_.end() && now->second.count == n) {
        p = top;
        return true;
      }
      queue_.pop();  // it was counted anew since
    }
    return false;
  }
  void merge(symbol_pair p, symbol into) {
    const std::set<std::size_t> in = pairs_[p].words;
    touched_.clear();
    for (const std::size_t w : in) {
      for_pairs(w, -1);
      replace(words_[w].symbols, p, into);
      for_pairs(w, 1);
    }
    for (const symbol_pair& t : touched_)
      if (const index_t n = pairs_[t].count; n > 0)
        queue_.push({n, t});
      else
        pairs_.erase(t);
  }
  /// Every p, from the left, becomes `into`.
  static void replace(std::vector<symbol>& s, symbol_pair p, symbol into) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const bool here = i + 1 < s.size() && s[i] == p.first && s[i + 1] == p.second;
      s[to++] = here ? into : s[i];
      i += here;
    }
    s.resize(to);
  }

 private:
  struct word {
    std::vector<symbol> symbols;
    index_t count;
  };
  struct entry {
    index_t count = 0;
    std::set<std::size_t> words;
  };
  struct waiting {
    index_t count;
    symbol_pair pair;
    bool operator<(const waiting& o) const {  // the best one is the largest
      return count != o.count ? count < o.count : pair > o.pair;
    }
  };
  void for_pairs(std::size_t w, index_t sign) {
    const auto& s = words_[w].symbols;
    for (std::size_t i = 0; i + 1 < s.size(); ++i) {
      const symbol_pair p{s[i], s[i + 1]};
      entry& e = pairs_[p];
      e.count += sign * words_[w].count;
      if (sign > 0)
        e.words.insert(w);
      else
        e.words.erase(w);
      touched_.insert(p);
    }
  }
  std::vector<word> words_;
  std::map<symbol_pair, entry> pairs_;
  std::priority_queue<waiting> queue_;
  std::set<symbol_pair> touched_;
};

}  // namespace detail

}  // namespace dimesh::input

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does text become numbers of a small vocabulary? By merging the pairs of symbols that come
// most often in a text of the user's own, beginning with bytes (Sennrich, Haddow, Birch: Neural
// machine translation of rare words with subword units; ACL 2016).
//
//   const auto v = input::byte_pairs::train(text, 1000);     // 256 bytes and up to 744 merges
//   v.encode("low lower")   -> {412, 733}                    v.decode(...)  -> "low lower"
//   v.save("vocabulary.txt");   input::byte_pairs::load("vocabulary.txt")
//
// Words do not merge with words: a word is letters (and all bytes above 127), digits, or other
// signs, with the space before it; what is longer than 64 bytes is cut. Where pairs come equally
// often, the one of the smaller numbers is merged: every machine gets the same vocabulary. All
// bytes are in it, so every text can be encoded, and decodes to itself.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <span>
#include <unordered_map>

#include "dimesh/io/data/contents.hpp"
#include "dimesh/io/data/pair_counts.hpp"

namespace dimesh::input {

/// A vocabulary: 256 bytes and merges of two symbols each.
class byte_pairs {
 public:
  using symbol = detail::symbol;

  /// Merges until there are `symbols`, or no pair comes twice. Throws dimesh::error where it is
  /// asked for fewer symbols than there are bytes.
  static byte_pairs train(std::string_view text, index_t symbols) {
    if (symbols < 256 || symbols > most_symbols)
      throw error("byte_pairs::train: a vocabulary of " + std::to_string(symbols) +
                  " symbols; give 256 (all bytes) to " + std::to_string(most_symbols));
    byte_pairs v;
    detail::pair_counts counts(text);
    detail::symbol_pair p;
    while (v.size() < symbols && counts.best(p)) {
      counts.merge(p, static_cast<symbol>(v.size()));
      v.add(p);
    }
    return v;
  }

  /// How many symbols there are: they are 0 .. size()-1.
  index_t size() const { return static_cast<index_t>(texts_.size()); }
  /// The bytes of a symbol. Throws dimesh::error where there is none of that number.
  const std::string& text(symbol s) const {
    if (s < 0 || s >= size())
      throw error("byte_pairs: symbol " + std::to_string(s) + " is none of the " +
                  std::to_string(size()));
    return texts_[static_cast<std::size_t>(s)];
  }
  std::vector<symbol> encode(std::string_view text) const {
    std::vector<symbol> out;
    detail::for_each_word(text, [&](std::string_view w) { encode_word(w, out); });
    return out;
  }
  /// The text again. Throws dimesh::error at numbers that are no symbols.
  std::string decode(std::span<const symbol> symbols) const {
    std::string out;
    for (const symbol s : symbols) out += text(s);
    return out;
  }

  /// As text: a line for each merge, and a checksum.
  std::string printed() const {
    std::string s = std::string(magic) + "\n" + std::to_string(merges_.size()) + "\n";
    for (const auto& m : merges_)
      s += std::to_string(m.first) + " " + std::to_string(m.second) + "\n";
    return s + std::to_string(detail::text_sum(s)) + "\n";
  }
  /// Throws dimesh::error where the file cannot be written; what was there stays then.
  void save(const std::string& path) const {
    const std::string all = printed(), part = detail::unfinished_name(path);
    std::FILE* const f = std::fopen(part.c_str(), "wb");
    if (f == nullptr)
      detail::refuse_file(path, std::string("cannot be made: ") + std::strerror(errno));
    bool good = std::fwrite(all.data(), 1, all.size(), f) == all.size();
    good = std::fflush(f) == 0 && good && ::fsync(::fileno(f)) == 0;
    good = std::fclose(f) == 0 && good;
    if (good && std::rename(part.c_str(), path.c_str()) == 0) return;
    const std::string why = std::strerror(errno);
    std::remove(part.c_str());
    detail::refuse_file(path, "cannot be written to its end: " + why);
  }
  static byte_pairs load(const std::string& path) { return load(contents(path)); }
  /// Throws dimesh::error where anything about the file is wrong, naming the line.
  static byte_pairs load(const contents& file);

  bool operator==(const byte_pairs& o) const { return merges_ == o.merges_; }

 private:
  static constexpr index_t most_symbols = 1 << 20;
  static constexpr symbol none = most_symbols;
  static constexpr std::string_view magic = "dimesh byte pairs 1";

  byte_pairs() {
    for (int b = 0; b < 256; ++b) texts_.emplace_back(1, static_cast<char>(b));
  }
  void add(detail::symbol_pair p) {
    rank_.emplace(detail::key_of(p), static_cast<symbol>(size()));
    merges_.push_back(p);
    texts_.push_back(text(p.first) + text(p.second));
  }
  /// What two symbols are merged to; else more than any symbol.
  symbol merged(symbol a, symbol b) const {
    const auto found = rank_.find(detail::key_of({a, b}));
    return found != rank_.end() ? found->second : none;
  }
  void encode_word(std::string_view w, std::vector<symbol>& out) const {
    std::array<symbol, detail::longest_word + 1> s, to;  // to: of a symbol and the one behind it
    std::size_t n = 0;
    for (const char c : w) s[n++] = static_cast<unsigned char>(c);
    for (std::size_t i = 0; i + 1 < n; ++i) to[i] = merged(s[i], s[i + 1]);
    while (n > 1) {
      const auto best = std::min_element(to.begin(), to.begin() + static_cast<index_t>(n) - 1);
      if (*best == none) break;
      const auto at = static_cast<std::size_t>(best - to.begin());
      s[at] = *best;
      --n;
      // Looked up are the two pairs that are new, and no other.
      for (std::size_t i = at + 1; i < n; ++i) s[i] = s[i + 1];
      for (std::size_t i = at + 1; i + 1 < n; ++i) to[i] = to[i + 1];
      if (at > 0) to[at - 1] = merged(s[at - 1], s[at]);
      if (at + 1 < n) to[at] = merged(s[at], s[at + 1]);
    }
    out.insert(out.end(), s.begin(), s.begin() + static_cast<index_t>(n));
  }

  std::vector<detail::symbol_pair> merges_;  // symbol 256 + k is merge k
  std::vector<std::string> texts_;
  std::unordered_map<std::uint64_t, symbol> rank_;
};

inline byte_pairs byte_pairs::load(const contents& file) {
  std::string_view rest = file.bytes();
  index_t line = 0;
  const auto refuse = [&](const std::string& what) {
    detail::refuse_file(file.path(), "line " + std::to_string(line) + ": " + what);
  };
  const auto take_line = [&] {
    ++line;
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) refuse("truncated: expected the end of a line");
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return text;
  };
  const auto number = [&](std::string_view text) {
    std::uint64_t n = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (fault != std::errc() || end != text.data() + text.size() ||
        std::to_string(n).size() != text.size())
      refuse("expected a number, found '" + std::string(text.substr(0, 40)) + "'");
    return n;
  };
  if (take_line() != magic) refuse("no byte pairs: expected '" + std::string(magic) + "'");
  const std::uint64_t count = number(take_line());
  if (count > static_cast<std::uint64_t>(most_symbols - 256))
    refuse(std::to_string(count) + " merges are more than " + std::to_string(most_symbols - 256));
  byte_pairs v;
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::string_view text = take_line();
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) refuse("expected two symbols");
    const std::uint64_t a = number(text.substr(0, space)), b = number(text.substr(space + 1));
    if (a >= 256 + k || b >= 256 + k)
      refuse("merges symbols that are not there yet; there are " + std::to_string(256 + k));
    const detail::symbol_pair p{static_cast<symbol>(a), static_cast<symbol>(b)};
    // Else a few lines could stand for more text than memory holds.
    if (v.text(p.first).size() + v.text(p.second).size() > detail::longest_word)
      refuse("makes a symbol that is longer than any word");
    if (v.rank_.contains(detail::key_of(p))) refuse("merges what was merged before");
    v.add(p);
  }
  const std::string_view summed = file.bytes().substr(0, file.bytes().size() - rest.size());
  if (number(take_line()) != detail::text_sum(summed))
    refuse("corrupt: the checksum is not what it was written with");
  if (!rest.empty()) refuse("expected the end of the file, found more");
  file.require_unchanged();
  return v;
}

}  // namespace dimesh::input

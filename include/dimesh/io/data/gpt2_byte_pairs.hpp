// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does text become the numbers that GPT-2's published weights are for? By the two files that
// were published beside them (Radford et al. 2019, section 2.2): vocab.json has a number for each
// token, merges.txt the pairs that are merged, the first ones first.
//
//   const input::gpt2_byte_pairs v("gpt2/vocab.json", "gpt2/merges.txt");
//   v.encode("Hello world")      -> {15496, 995}         v.decode(...)  -> "Hello world"
//   v.number("<|endoftext|>")    -> 50256: what ends a text; encode() reads it as any other text
//
// All bytes are tokens, so every text can be encoded, and decodes to itself. To learn a vocabulary
// of one's own: byte_pairs.hpp. Needs nlohmann's JSON.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

#include "dimesh/io/data/contents.hpp"
#include "dimesh/io/data/letters.hpp"
#include "dimesh/io/data/pair_counts.hpp"
#include "dimesh/io/json_object.hpp"

namespace dimesh::input {

namespace detail {

struct found_sign {
  char32_t sign;
  std::size_t bytes;
};
/// What begins there in UTF-8. A byte that begins nothing is one sign, U+FFFD.
inline found_sign sign_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t n = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  constexpr char32_t least[]{0, 0, 0x80, 0x800, 0x10000};
  char32_t sign = byte(0) & (0x7f >> n);
  bool good = byte(0) >= 0xc2 && byte(0) < 0xf5 && at + n <= text.size();
  for (std::size_t k = 1; good && k < n; ++k) {
    good = (byte(k) & 0xc0) == 0x80;
    sign = sign << 6 | (byte(k) & 0x3f);
  }
  good = good && sign >= least[n] && sign < 0x110000 && (sign < 0xd800 || sign > 0xdfff);
  return good ? found_sign{sign, n} : found_sign{0xfffd, 1};
}

/// Where the word ends that begins there: the first that fits of
/// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
inline std::size_t end_of_gpt2_word(std::string_view text, std::size_t at) {
  if (text[at] == '\'')
    for (const std::string_view s : {"s", "t", "re", "ve", "m", "ll", "d"})
      if (text.substr(at + 1).starts_with(s)) return at + 1 + s.size();
  std::size_t end = at, last = at;
  if (text[at] == ' ' && at + 1 < text.size() &&
      kind_of(sign_at(text, at + 1).sign) != sign_kind::space)
    ++end;
  const sign_kind kind = kind_of(sign_at(text, end).sign);
  while (end < text.size()) {
    const found_sign s = sign_at(text, end);
    if (kind_of(s.sign) != kind) break;
    last = end;
    end += s.bytes;
  }
  // Of several spaces the last one is left to what follows.
  return kind == sign_kind::space && end < text.size() && last > at ? last : end;
}

/// In the files every byte is a sign that can be seen: most are those of Latin-1, the others, in
/// their order, those from U+0100 on.
inline std::array<char32_t, 256> signs_of_bytes() {
  std::array<char32_t, 256> all{};
  char32_t other = 0x100;
  for (char32_t b = 0; b < 256; ++b) {
    const bool is_seen = (b > 0x20 && b < 0x7f) || (b > 0xa0 && b != 0xad);
    all[b] = is_seen ? b : other++;
  }
  return all;
}

}  // namespace detail

/// GPT-2's vocabulary, or one in the same two files.
class gpt2_byte_pairs {
 public:
  using symbol = detail::symbol;

  /// Throws dimesh::error where anything about the files is wrong, naming the token or the line:
  /// lines of merges that end as on Windows, too, and tokens with a space itself, for which the
  /// files have the sign U+0120.
  gpt2_byte_pairs(const std::string& vocabulary, const std::string& merges)
      : gpt2_byte_pairs(contents(vocabulary), contents(merges)) {}
  gpt2_byte_pairs(const contents& vocabulary, const contents& merges) {
    read_tokens(vocabulary);
    read_merges(merges);
  }

  /// How many symbols there are: they are 0 .. size()-1.
  index_t size() const { return static_cast<index_t>(texts_.size()); }
  /// The bytes of a symbol. Throws dimesh::error where there is none of that number.
  const std::string& text(symbol s) const {
    if (s < 0 || s >= size())
      throw error("gpt2_byte_pairs: symbol " + std::to_string(s) + " is none of the " +
                  std::to_string(size()));
    return texts_[static_cast<std::size_t>(s)];
  }
  /// The symbol of these bytes. Throws dimesh::error where there is none.
  symbol number(const std::string& text) const {
    const auto found = numbers_.find(text);
    if (found == numbers_.end())
      throw error("gpt2_byte_pairs: no symbol stands for '" + text + "'");
    return found->second;
  }
  std::vector<symbol> encode(std::string_view text) const {
    std::vector<symbol> out;
    std::vector<merge> room;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = detail::end_of_gpt2_word(text, at);
      encode_word(text.substr(at, end - at), out, room);
      at = end;
    }
    return out;
  }
  /// The text again. Throws dimesh::error at numbers that are no symbols.
  std::string decode(std::span<const symbol> symbols) const {
    std::string out;
    for (const symbol s : symbols) out += text(s);
    return out;
  }

 private:
  struct merge {
    index_t rank;
    symbol to;
  };
  static constexpr merge none{std::numeric_limits<index_t>::max(), 0};

  void read_tokens(const contents& file) {
    const auto fail = [&](const std::string& what) { detail::refuse_file(file.path(), what); };
    const auto all = dimesh::detail::json_object(std::string(file.bytes()), "the vocabulary", fail);
    texts_.resize(all.size());
    std::vector<bool> is_taken(all.size());
    for (const auto& [token, number] : all.items()) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= all.size() ||
          is_taken[number.get<std::size_t>()])
        fail("token '" + token + "' has the number " + number.dump() + "; expected 0 to " +
             std::to_string(all.size() - 1) + ", each once");
      is_taken[number.get<std::size_t>()] = true;
      const auto bytes = bytes_of(token);
      if (!bytes) fail("token '" + token + "' has a sign that stands for no byte");
      texts_[number.get<std::size_t>()] = *bytes;
      numbers_.emplace(*bytes, number.get<symbol>());
    }
    for (int b = 0; b < 256; ++b) {
      const auto found = numbers_.find(std::string(1, static_cast<char>(b)));
      if (found == numbers_.end()) fail("no token stands for byte " + std::to_string(b));
      of_byte_[static_cast<std::size_t>(b)] = found->second;
    }
    file.require_unchanged();
  }
  void read_merges(const contents& file) {
    std::string_view rest = file.bytes();
    for (index_t line = 1; !rest.empty(); ++line) {
      const std::string text(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(std::min(rest.size(), text.size() + 1));
      if ((line == 1 && text.starts_with("#version")) || (text.empty() && rest.empty())) continue;
      const std::string where = "line " + std::to_string(line) + ": ";
      const std::size_t space = text.find(' ');
      if (space == std::string::npos)
        detail::refuse_file(file.path(), where + "expected two tokens, found '" + text + "'");
      const auto token = [&](const std::string& signs) {
        const auto bytes = bytes_of(signs);
        const auto found = bytes ? numbers_.find(*bytes) : numbers_.end();
        if (found == numbers_.end())
          detail::refuse_file(file.path(), where + "the vocabulary has no '" + signs + "'");
        return found->second;
      };
      const std::string a = text.substr(0, space), b = text.substr(space + 1);
      if (!merges_.emplace(detail::key_of({token(a), token(b)}), merge{line, token(a + b)}).second)
        detail::refuse_file(file.path(), where + "merges what was merged before");
    }
    file.require_unchanged();
  }
  /// What a token's signs stand for, if each stands for a byte.
  static std::optional<std::string> bytes_of(const std::string& signs) {
    static const auto bytes = [] {
      std::unordered_map<char32_t, char> all;
      const auto of = detail::signs_of_bytes();
      for (std::size_t b = 0; b < 256; ++b) all.emplace(of[b], static_cast<char>(b));
      return all;
    }();
    std::string out;
    for (std::size_t at = 0; at < signs.size();) {
      const auto [sign, n] = detail::sign_at(signs, at);
      const auto found = bytes.find(sign);
      if (found == bytes.end()) return std::nullopt;
      out += found->second;
      at += n;
    }
    return out;
  }

  merge merged(symbol a, symbol b) const {
    const auto found = merges_.find(detail::key_of({a, b}));
    return found != merges_.end() ? found->second : none;
  }
  /// The first merge of all that a word has, wherever it has it, and again. to: of a symbol and the
  /// one behind it.
  void encode_word(std::string_view w, std::vector<symbol>& out, std::vector<merge>& to) const {
    const std::size_t begin = out.size();
    for (const char c : w) out.push_back(of_byte_[static_cast<unsigned char>(c)]);
    symbol* const s = out.data() + begin;
    std::size_t n = w.size();
    to.resize(n);
    for (std::size_t i = 0; i + 1 < n; ++i) to[i] = merged(s[i], s[i + 1]);
    while (n > 1) {
      const merge best =
          *std::min_element(to.begin(), to.begin() + static_cast<index_t>(n) - 1,
                            [](const merge& a, const merge& b) { return a.rank < b.rank; });
      if (best.rank == none.rank) break;
      std::size_t k = 0;
      bool is_new = false;  // the symbol before
      for (std::size_t i = 0; i < n; ++k) {
        const bool here = i + 1 < n && to[i].rank == best.rank;
        s[k] = here ? best.to : s[i];
        // Looked up are the pairs that are new, and no other: a word may be a whole text.
        if (k > 0) to[k - 1] = here || is_new ? merged(s[k - 1], s[k]) : to[i - 1];
        is_new = here;
        i += here ? 2 : 1;
      }
      n = k;
    }
    out.resize(begin + n);
  }

  std::vector<std::string> texts_;
  std::unordered_map<std::string, symbol> numbers_;
  std::array<symbol, 256> of_byte_{};
  std::unordered_map<std::uint64_t, merge> merges_;
};

}  // namespace dimesh::input

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vocabularies of byte pairs, against a trainer that counts everything anew after each merge.
#include <dimesh/io/data/byte_pairs.hpp>
#include <dimesh/io/data/pair_counts.hpp>

#include <doctest/doctest.h>

#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
using dimesh::index_t;
using in::byte_pairs;
using test_support::scratch_file;
using test_support::thrown;
using symbols = std::vector<std::int32_t>;

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  in::detail::for_each_word(text, [&](std::string_view w) { all.emplace_back(w); });
  return all;
}

/// Text from few letters, with many pairs that come equally often.
std::string random_text(std::uint32_t seed, int length) {
  std::string s;
  for (int i = 0; i < length; ++i) {
    seed = seed * 1664525u + 1013904223u;
    s += "aaabbc  d1.\n"[(seed >> 16) % 12];
  }
  return s;
}

/// Merges by definition: all pairs of all words counted, the most frequent and then the smallest.
std::vector<in::detail::symbol_pair> plain_merges(const std::string& text, index_t merges) {
  std::vector<symbols> all;
  for (const std::string& w : words(text)) {
    symbols s;
    for (const char c : w) s.push_back(static_cast<unsigned char>(c));
    all.push_back(s);
  }
  std::vector<in::detail::symbol_pair> made;
  for (index_t k = 0; k < merges; ++k) {
    std::map<in::detail::symbol_pair, index_t> count;
    for (const symbols& s : all)
      for (std::size_t i = 0; i + 1 < s.size(); ++i) ++count[{s[i], s[i + 1]}];
    in::detail::symbol_pair best;
    index_t most = 1;
    for (const auto& [p, n] : count)
      if (n > most) best = p, most = n;
    if (most < 2) break;
    for (symbols& s : all)
      in::detail::pair_counts::replace(s, best, static_cast<std::int32_t>(256 + k));
    made.push_back(best);
  }
  return made;
}

TEST_CASE("words: all of the text, in order, spaces with what follows") {
  CHECK(words("low lower  x1, \n y") ==
        std::vector<std::string>{"low", " lower", " ", " x", "1", ",", " \n", " y"});
  CHECK(words("").empty());
  CHECK(words("caf\xc3\xa9 ") == std::vector<std::string>{"caf\xc3\xa9", " "});
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::string joined;
    const std::string text = random_text(seed, 300) + std::string(seed * 3, seed % 2 ? 'x' : ' ');
    for (const auto& w : words(text)) {
      CHECK(w.size() <= in::detail::longest_word);
      CHECK(!w.empty());
      joined += w;
    }
    CHECK(joined == text);
  }
}

TEST_CASE("train: the merges of the definition") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::string text = random_text(seed, 400);
    const auto want = plain_merges(text, 60);
    const auto v = byte_pairs::train(text, 256 + 60);
    REQUIRE(v.size() == 256 + static_cast<index_t>(want.size()));
    for (std::size_t k = 0; k < want.size(); ++k)
      CHECK(v.text(static_cast<std::int32_t>(256 + k)) ==
            v.text(want[k].first) + v.text(want[k].second));
    // Encoding merges in the order in which training did.
    symbols trained;
    for (const auto& w : words(text)) {
      symbols s;
      for (const char c : w) s.push_back(static_cast<unsigned char>(c));
      for (std::size_t k = 0; k < want.size(); ++k)
        in::detail::pair_counts::replace(s, want[k], static_cast<std::int32_t>(256 + k));
      trained.insert(trained.end(), s.begin(), s.end());
    }
    CHECK(v.encode(text) == trained);
  }
}

TEST_CASE("encode and decode: any bytes come back, words as few symbols") {
  const auto v = byte_pairs::train("low low low lower lower newest newest newest newest", 300);
  CHECK(v.encode(" low").size() == 1);
  CHECK(v.encode(" low low").size() == 2);
  std::string every;
  for (int b = 0; b < 256; ++b) every += static_cast<char>(b);
  for (const std::string& text :
       {every, std::string(), std::string(1000, 'w'), std::string("\0 \0", 3)})
    CHECK(v.decode(v.encode(text)) == text);
  const symbols bad{1, -1}, beyond{static_cast<std::int32_t>(v.size())};
  CHECK(thrown([&] { v.decode(bad); }) ==
        "byte_pairs: symbol -1 is none of the " + std::to_string(v.size()));
  CHECK(thrown([&] {
          v.decode(beyond);
        }).starts_with("byte_pairs: symbol " + std::to_string(v.size())));
  CHECK(byte_pairs::train("", 1000).size() == 256);
  CHECK(thrown([] { byte_pairs::train("", 255); }) ==
        "byte_pairs::train: a vocabulary of 255 symbols; give 256 (all bytes) to 1048576");
}

TEST_CASE("encode: every merge in its turn, from the left") {
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    const std::string learned = random_text(seed, 400),
                      text = random_text(seed + 9, 2000) + "aaaaaaa";
    const auto v = byte_pairs::train(learned, 300);
    const auto merges = plain_merges(learned, 300 - 256);
    symbols expected;
    for (const std::string& w : words(text)) {
      symbols s;
      for (const char c : w) s.push_back(static_cast<unsigned char>(c));
      for (std::size_t k = 0; k < merges.size(); ++k)
        in::detail::pair_counts::replace(s, merges[k], static_cast<std::int32_t>(256 + k));
      expected.insert(expected.end(), s.begin(), s.end());
    }
    CHECK(v.encode(text) == expected);
  }
}

TEST_CASE("files: what was saved is loaded; damaged ones are refused by line") {
  const auto v = byte_pairs::train(random_text(1, 500), 280);
  const scratch_file f("");
  v.save(f.path);
  CHECK(byte_pairs::load(f.path) == v);
  const std::string good = v.printed();
  CHECK(f.read() == good);
  const auto refused = [](std::string text) {
    return thrown([&] { byte_pairs::load(in::contents("v", std::move(text))); });
  };
  CHECK(refused(good) == "nothing");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(refused(good.substr(0, n)) != "nothing");
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    CHECK(refused(bad) != "nothing");
  }
  const std::string head = "dimesh byte pairs 1\n";
  const auto says = [&](const std::string& text, const std::string& want) {
    const std::string got = refused(head + text);
    INFO(got);
    CHECK(got.starts_with("input: 'v': line " + want));
  };
  CHECK(refused("dimesh byte pairs 2\n") ==
        "input: 'v': line 1: no byte pairs: expected 'dimesh byte pairs 1'");
  says("2", "2: truncated: expected the end of a line");
  says("two\n", "2: expected a number, found 'two'");
  says("-1\n", "2: expected a number, found '-1'");
  says("01\n", "2: expected a number, found '01'");
  says("99999999999999999999999\n", "2: expected a number");
  says("1048321\n", "2: 1048321 merges are more than 1048320");
  says("1\n97\n", "3: expected two symbols");
  says("1\n97 256\n", "3: merges symbols that are not there yet; there are 256");
  says("2\n97 98\n97 98\n", "4: merges what was merged before");
  std::string doubling = "40\n97 97\n";
  for (int k = 0; k < 39; ++k)
    doubling += std::to_string(256 + k) + " " + std::to_string(256 + k) + "\n";
  says(doubling, "9: makes a symbol that is longer than any word");
  says("0\n7\n", "3: corrupt: the checksum is not what it was written with");
  const std::string none = head + "0\n";
  const std::string whole = none + std::to_string(in::detail::text_sum(none)) + "\n";
  CHECK(refused(whole) == "nothing");
  CHECK(refused(whole + "x").ends_with("line 3: expected the end of the file, found more"));
  CHECK(thrown([&] { v.save("/nowhere/v"); }).starts_with("input: '/nowhere/v': cannot be made"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vocabularies in GPT-2's files, against its tokenizer written anew in Python
// (tests/support/gpt2_words.py prints what stands here).
#include <dimesh/io/data/gpt2_byte_pairs.hpp>

#include <doctest/doctest.h>

#include <sstream>

#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
using in::gpt2_byte_pairs;
using test_support::scratch_file;
using test_support::thrown;
using symbols = std::vector<std::int32_t>;

const char* const merges =
    "#version: 0.2\n"
    "h e\n"
    "t he\n"
    "\304\240 the\n"
    "\303\203 \302\251\n"
    "9 9\n"
    "\304\240 o\n"
    "\304\240 1\n"
    "\304\240 \304\240\n"
    "99 9\n"
    "r e\n"
    "t \303\203\302\251\n"
    "the r\n"
    "\303\203\302\251 t\303\203\302\251\n"
    "\304\240 l\n"
    "\304\2401 999\n"
    "\304\240o ther\n"
    "\304\240the y\n"
    "! !\n"
    "# #\n"
    "' re\n"
    "' s\n"
    "' t\n"
    "0 2\n"
    "02 4\n"
    "2 024\n"
    "I t\n"
    "c o\n"
    "co l\n"
    "col e\n"
    "d o\n"
    "do n\n"
    "o r\n"
    "or y\n"
    "\303\203 \305\202\n"
    "\303\203\302\251 cole\n"
    "\304\212 \304\212\n"
    "\304\212 \304\240\n"
    "\304\212\304\212 \304\240\304\240\n"
    "\304\212\304\212\304\240\304\240 \304\240\n"
    "\304\240 ##\n"
    "\304\240 2024\n"
    "\304\240 It\n"
    "\304\240 don\n"
    "\304\240 \303\203\302\251t\303\203\302\251\n"
    "\304\240 \303\203\305\202\n"
    "\304\2401 9\n"
    "\304\240o f\n"
    "\304\240o r\n";

struct encoded {
  std::string text;
  symbols numbers;
};
const encoded cases[] = {
    {"the other", {257, 271}},
    {"they're there, don't they\077 It's we've I'm she'll he'd 'tis ''s DON'T",
     {257, 88, 275, 258, 265, 11,  298, 277, 272, 30,  297, 276, 220, 86,  68, 6,
      85,  68, 220, 40,  6,   76,  220, 82,  256, 6,   75,  75,  220, 256, 6,  67,
      220, 6,  83,  72,  82,  220, 6,   6,   82,  220, 35,  46,  45,  6,   51}},
    {"1999 2024!!  x1 ##the 19\302\262 \340\245\247\340\245\250 \342\205\247\302\275",
     {16,  264, 296, 273, 220, 220, 87,  16,  295, 257, 301, 126, 110,
      220, 156, 98,  100, 156, 98,  101, 220, 158, 227, 100, 126, 121}},
    {" leading,  two   three\012\012lines \012 the\011\011end  ",
     {269, 68,  64,  67, 72, 77, 70, 11, 220, 220, 83,  86,  78,  263, 220, 83, 71, 265,
      68,  198, 198, 75, 72, 77, 68, 82, 220, 198, 258, 197, 197, 68,  77,  67, 263}},
    {"l'\303\251t\303\251 \303\240 l'\303\251cole", {75, 6, 268, 300, 269, 6, 290}},
    {"na\303\257ve e\314\201 \344\275\240\345\245\275\357\274\214\344\270\226\347\225\214 "
     "\316\261\316\262\316\263 \330\264\331\203\330\261 \360\237\230\200\360\237\230\201 "
     "\302\252\312\260",
     {77,  64,  127, 107, 85,  68,  220, 68,  136, 223, 220, 160, 121, 254, 161, 98,  121, 171,
      120, 234, 160, 116, 244, 163, 243, 234, 220, 138, 109, 138, 110, 138, 111, 220, 148, 112,
      149, 225, 148, 109, 220, 172, 253, 246, 222, 172, 253, 246, 223, 220, 126, 103, 134, 108}},
    {"a\302\240the\342\200\203 the\343\200\200\343\200\200the\302\205\342\200\250x",
     {64,  126, 254, 257, 158, 222, 225, 258, 159, 222, 222,
      159, 222, 222, 257, 126, 227, 158, 222, 101, 87}},
    {std::string("\000\177\302\255 the\342\200\213the", 14),
     {188, 221, 126, 255, 258, 158, 222, 233, 257}},
};

std::string utf8(int sign) {
  if (sign < 0x80) return {static_cast<char>(sign)};
  return {static_cast<char>(0xc0 | sign >> 6), static_cast<char>(0x80 | (sign & 0x3f))};
}
/// The signs that stand for bytes, and what the merges make.
std::vector<std::string> tokens() {
  std::vector<std::string> all;
  for (int sign = '!'; sign < 256 + 68; ++sign)
    if (sign <= '~' || (sign > 0xa0 && sign != 0xad)) all.push_back(utf8(sign));
  const std::string text = merges;
  for (std::size_t at = text.find('\n') + 1; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::size_t space = line.find(' ');
    all.push_back(line.substr(0, space) + line.substr(space + 1));
  }
  all.push_back("<|endoftext|>");
  return all;
}
std::string json_of(const std::vector<std::string>& all) {
  std::string s = "{";
  for (std::size_t n = 0; n < all.size(); ++n) {
    s += n == 0 ? "\"" : ", \"";
    for (const char c : all[n]) s += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    s += "\": " + std::to_string(n);
  }
  return s + "}\n";
}
gpt2_byte_pairs read(const std::string& vocabulary, const std::string& of_merges) {
  const scratch_file v(vocabulary), m(of_merges);
  return {v.path, m.path};
}
void refused(const std::string& vocabulary, const std::string& of_merges, const std::string& why) {
  const std::string said = thrown([&] { read(vocabulary, of_merges); });
  INFO(said);
  CHECK(said.starts_with("input: '"));
  CHECK(said.find("': " + why) != std::string::npos);
}

TEST_CASE("encode: as GPT-2's tokenizer; what it gives is the text again") {
  const auto v = read(json_of(tokens()), merges);
  CHECK(v.size() == 256 + 48 + 1);
  for (const encoded& c : cases) {
    CAPTURE(c.text);
    CHECK(v.encode(c.text) == c.numbers);
    CHECK(v.decode(v.encode(c.text)) == c.text);
  }
  CHECK(v.encode("").empty());
  CHECK(v.number("<|endoftext|>") == 304);
  CHECK(v.text(304) == "<|endoftext|>");
  CHECK(v.encode("<|endoftext|>").size() > 1);
  CHECK(v.text(258) == " the");
  CHECK(v.number(" the") == 258);
}

TEST_CASE("encode: a word as long as a text, by the merges one after the other") {
  const auto v = read(json_of(tokens()), merges);
  std::string word;
  for (unsigned k = 0, number = 1; k < 4000; ++k, number = number * 1103515245u + 12345u)
    word += "therol"[number / 65536u % 6u];
  std::vector<std::string> all;
  for (const char c : word) all.emplace_back(1, c);
  std::istringstream lines(merges);
  std::string a, b;
  for (lines >> a >> b; lines >> a >> b;) {
    std::vector<std::string> some;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool here = i + 1 < all.size() && all[i] == a && all[i + 1] == b;
      some.push_back(here ? a + b : all[i]);
      i += here;
    }
    all = some;
  }
  symbols wanted;
  for (const std::string& s : all) wanted.push_back(v.number(s));
  CHECK(wanted.size() + 300 < word.size());
  CHECK(v.encode(word) == wanted);
}

TEST_CASE("encode: bytes that are no UTF-8 come back, too") {
  const auto v = read(json_of(tokens()), merges);
  std::string every;
  for (int b = 0; b < 256; ++b) every += static_cast<char>(b);
  for (const std::string& text :
       {every, std::string("the\xc3"), std::string("\xc3the"), std::string("\xe2\x82 the"),
        std::string("\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80\xff"), std::string(5000, ' '),
        std::string(5000, '9')})
    CHECK(v.decode(v.encode(text)) == text);
  // Cut in two, a letter is two signs that do not stand beside letters.
  CHECK(v.encode("the\xc3") == symbols{257, v.number("\xc3")});
}

TEST_CASE("kind_of: letters, numbers and spaces of many scripts") {
  using in::sign_kind;
  for (const char32_t c :
       U"azAZ\u00aa\u00e9\u00ff\u02b0\u03b1\u0634\u4f60\uac00\U0001d400\U0002a6df")
    CHECK(in::kind_of(c) == (c == 0 ? sign_kind::other : sign_kind::letter));
  for (const char32_t c : {U'0', U'9', U'\u00b2', U'\u00bd', U'\u0967', U'\u2167', U'\U0001d7ff'})
    CHECK(in::kind_of(c) == sign_kind::number);
  for (const char32_t c : {U' ', U'\t', U'\r', U'\u0085', U'\u00a0', U'\u2003', U'\u3000'})
    CHECK(in::kind_of(c) == sign_kind::space);
  for (const char32_t c :
       {U'_', U'\u00d7', U'\u0301', U'\u200b', U'\ufffd', U'\U0001f600', U'\U0010ffff', U'\x1f'})
    CHECK(in::kind_of(c) == sign_kind::other);
}

TEST_CASE("files that are damaged are refused: the token, or the line") {
  const auto all = tokens();
  const std::string good = json_of(all);
  const auto with = [&](const std::string& from, const std::string& to) {
    const std::size_t at = good.find(from);
    REQUIRE(at != std::string::npos);
    return good.substr(0, at) + to + good.substr(at + from.size());
  };
  refused("[1]", merges, "expected an object in the vocabulary");
  refused(good.substr(0, 100), merges, "expected JSON in the vocabulary");
  refused(with("\"the\": 257", "\"the\": 258"), merges, "token '");
  refused(with("\"the\": 257", "\"the\": 305"), merges,
          "token 'the' has the number 305; expected 0 to 304, each once");
  refused(with("\"the\": 257", "\"the\": -1"), merges, "token 'the' has the number -1");
  refused(with("\"the\": 257", "\"the\": \"x\""), merges, "token 'the' has the number \"x\"");
  refused(with("\"the\"", "\"t e\""), merges, "token 't e' has a sign that stands for no byte");
  refused(with("\"B\"", "\"BB\""), merges, "no token stands for byte 66");
  refused(with("\"the\"", "\"theB\""), merges, "line 3: the vocabulary has no 'the'");
  refused(good, "#version: 0.2\nh e\nthe\n", "line 3: expected two tokens, found 'the'");
  refused(good, "h e\n\nt he\n", "line 2: expected two tokens, found ''");
  refused(good, "h e\nh e\n", "line 2: merges what was merged before");
  refused(good, "h e\nt q\n", "line 2: the vocabulary has no 'tq'");
  CHECK(read(good, "h e\nt he").encode("the") == symbols{257});
  const auto v = read(good, merges);
  const symbols bad{1, -1}, beyond{305};
  CHECK(thrown([&] { v.decode(bad); }) == "gpt2_byte_pairs: symbol -1 is none of the 305");
  CHECK(thrown([&] { v.decode(beyond); }) == "gpt2_byte_pairs: symbol 305 is none of the 305");
  CHECK(thrown([&] { v.number("no such"); }) == "gpt2_byte_pairs: no symbol stands for 'no such'");
}
}  // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/language_model/text.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using dimesh::index_t;
using dimesh::random_key;

/// A file of the test's own that vanishes with it.
struct scratch_file {
  std::string path;
  explicit scratch_file(const std::string& bytes) {
    static int count = 0;
    path = (fs::temp_directory_path() /
            ("dimesh_text_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
               .string();
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~scratch_file() { fs::remove(path); }
};

/// In place of the `bible` tool.
struct scratch_tool : scratch_file {
  explicit scratch_tool(const std::string& script) : scratch_file("#!/bin/sh\n" + script + "\n") {
    fs::permissions(path, fs::perms::owner_all);
  }
};

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const dimesh::error& e) {
    return e.what();
  }
  return "(no error)";
}
bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

std::vector<std::uint8_t> counting(std::size_t n) {
  std::vector<std::uint8_t> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 % 251);
  return bytes;
}

}  // namespace

TEST_CASE("text: a file, and what may be wrong with it") {
  const std::string bytes("line\n\0\xff end", 11);
  CHECK(text::read_file(scratch_file(bytes).path) == bytes);
  CHECK(text::read_file(scratch_file("").path).empty());
  has(message_of([] { text::read_file("/no/such/file"); }), "text: '/no/such/file' does not exist");
  has(message_of([] { text::read_file("/tmp"); }), "text: '/tmp' is a directory");
  if (geteuid() != 0) {  // to root, every file is readable
    const scratch_file file("secret");
    fs::permissions(file.path, fs::perms::none);
    has(message_of([&] { text::read_file(file.path); }), "cannot be opened: Permission denied");
  }
}

TEST_CASE("text: verses lose their references, and nothing else") {
  CHECK(text::without_references("Ge1:1 In the beginning: God\n1Chr12:3 A  b\n") ==
        "In the beginning: God\nA  b\n");
  CHECK(text::without_references("Ge1:1 no end") == "no end\n");
  CHECK(text::without_references("").empty());
  has(message_of([] { text::without_references("Ge1:1 a\n\nGe1:2 b\n"); }), "not a verse");
  has(message_of([] { text::without_references("a: b\n"); }), "not a verse");
}

TEST_CASE("text: a tool that is missing, fails, or says too little") {
  const auto said = [](const std::string& tool) {
    return message_of([&] { text::king_james(tool); });
  };
  const std::string missing = said("/no/such/tool");
  has(missing, "text: '/no/such/tool -f Gen1:1-Rev22:21' failed (exit status 127)");
  has(missing, "install Debian's bible-kjv and bible-kjv-text, or name a file with --text");
  has(said(scratch_tool("echo Cannot open data file >&2; exit 3").path),
      "failed (exit status 3): Cannot open data file; install");
  has(said(scratch_tool("kill -9 $$").path), "failed (exit status 137)");
  has(said(scratch_tool("echo Ge1:1 In the beginning").path),
      "printed only 17 bytes of verses, expected at least 4000000");
}

TEST_CASE("text: the King James text, where the tool is installed") {
  if (std::system("command -v bible > /dev/null") != 0) return;
  const std::string all = text::king_james();
  CHECK(all.find("In the beginning God created the heaven and the earth.\nAnd the earth") == 0);
  CHECK(std::count(all.begin(), all.end(), '\n') == 31102);
  const std::string end = "The grace of our Lord Jesus Christ be with you all. Amen.\n";
  CHECK(all.substr(all.size() - end.size()) == end);
  CHECK(std::all_of(all.begin(), all.end(),
                    [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_CASE("corpus: the last twentieth is for validation, and must hold a row") {
  const text::corpus c("me", counting(1000), 49);
  CHECK(c.source() == "me");
  CHECK(c.train().size() == 950);
  CHECK(c.validation().size() == 50);
  CHECK(c.train().data() + 950 == c.validation().data());
  CHECK(c.train()[3] == 21);
  has(message_of([] { text::corpus("me", counting(1000), 50); }),
      "text: 'me' has 1000 bytes; a twentieth is kept for validation and must hold a row of 50 and "
      "one byte more, so at least 1020 are needed");
  CHECK(text::corpus("me", counting(1020), 50).validation().size() == 51);
  CHECK_THROWS_AS(text::corpus("empty", {}, 1), dimesh::error);
}

TEST_CASE("draw_rows: a function of key, step and row; all of the text in reach, targets too") {
  const auto bytes = counting(100);
  const random_key key{5};
  const auto a = text::draw_rows(bytes, 64, 90, key, 3);
  CHECK(a.starts == text::draw_rows(bytes, 64, 90, key, 3).starts);
  CHECK(a.starts != text::draw_rows(bytes, 64, 90, key, 4).starts);
  CHECK(a.starts != text::draw_rows(bytes, 64, 90, random_key{6}, 3).starts);
  const auto fewer = text::draw_rows(bytes, 10, 90, key, 3);  // rows do not depend on their number
  CHECK(std::equal(fewer.starts.begin(), fewer.starts.end(), a.starts.begin()));
  const std::set<index_t> seen(a.starts.begin(), a.starts.end());
  CHECK(*seen.begin() == 0);
  CHECK(*seen.rbegin() == 9);  // 9 + 90 is the place of the last target
  CHECK(seen.size() == 10);
  const auto only = text::draw_rows(bytes, 8, 99, key, 0);
  CHECK(only.starts == std::vector<index_t>(8, 0));
}

TEST_CASE("draw_rows: every place has the same chance") {
  const auto bytes = counting(21);
  std::vector<int> hits(20, 0);
  for (index_t step = 0; step < 1000; ++step)
    for (const index_t s : text::draw_rows(bytes, 20, 1, random_key{1}, step).starts)
      ++hits[static_cast<std::size_t>(s)];
  for (const int h : hits) CHECK(std::abs(h - 1000) < 160);  // five standard deviations
}

TEST_CASE("read_rows: front to back, each byte a target once") {
  const auto bytes = counting(100);
  CHECK(text::batches(bytes, 3, 10) == 3);
  CHECK(text::batches(bytes, 1, 99) == 1);
  CHECK(text::batches(bytes, 1, 100) == 0);
  CHECK(text::read_rows(bytes, 3, 10, 0).starts == std::vector<index_t>{0, 10, 20});
  CHECK(text::read_rows(bytes, 3, 10, 2).starts == std::vector<index_t>{60, 70, 80});
  CHECK(text::read_rows(bytes, 4, 40, 0).starts == std::vector<index_t>{0, 40, 0, 40});
  CHECK(text::read_rows(bytes, 2, 99, 5).starts == std::vector<index_t>{0, 0});
}

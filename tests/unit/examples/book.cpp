// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/common/book.cpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "support/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using dimesh::index_t;
using test_support::thrown;

/// In place of the `bible` tool.
struct scratch_tool {
  test_support::scratch_file file;
  explicit scratch_tool(const std::string& script) : file("#!/bin/sh\n" + script + "\n") {
    fs::permissions(file.path, fs::perms::owner_all);
  }
};
/// Standard output is a terminal as long as this lives.
class terminal {
 public:
  terminal() : screen_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(grantpt(screen_) == 0);
    REQUIRE(unlockpt(screen_) == 0);
    const int written = open(ptsname(screen_), O_RDWR | O_NOCTTY);
    std::cout << std::flush;
    dup2(written, 1);
    close(written);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() {
    std::cout << std::flush;
    dup2(output_, 1);
    close(output_);
    close(screen_);
  }
  /// So many bytes of what it shows next; fewer where no more comes.
  std::string shown(std::size_t n) const {
    std::string s;
    pollfd one{screen_, POLLIN, 0};
    for (char c = 0; s.size() < n && poll(&one, 1, 1000) > 0 && read(screen_, &c, 1) == 1;) s += c;
    return s;
  }

 private:
  int output_ = dup(1), screen_;
};
bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("text: verses lose their references, and nothing else") {
  CHECK(text::without_references("Ge1:1 In the beginning: God\n1Chr12:3 A  b\n") ==
        "In the beginning: God\nA  b\n");
  CHECK(text::without_references("Ge1:1 no end") == "no end\n");
  CHECK(text::without_references("").empty());
  has(thrown([] { text::without_references("Ge1:1 a\n\nGe1:2 b\n"); }), "not a verse");
  has(thrown([] { text::without_references("a: b\n"); }), "not a verse");
}

TEST_CASE("text: a tool that is missing, fails, or says too little") {
  const auto said = [](const std::string& tool) { return thrown([&] { text::king_james(tool); }); };
  const std::string missing = said("/no/such/tool");
  has(missing, "input: '/no/such/tool -f Gen1:1-Rev22:21': failed (exit status 127)");
  has(missing, "install Debian's bible-kjv and bible-kjv-text, or name a file with --text");
  has(said(scratch_tool("echo Cannot open data file >&2; exit 3").file.path),
      "failed (exit status 3): Cannot open data file; install");
  has(said(scratch_tool("echo Ge1:1 In the beginning").file.path),
      "printed only 17 bytes of verses, expected at least 4000000");
  has(said(scratch_tool("echo In the beginning").file.path), "not a verse with its reference");
}

TEST_CASE("text: the King James text, where the tool is installed") {
  if (std::system("command -v bible > /dev/null") != 0) return;
  const auto book = text::king_james();
  const std::string_view all = book.bytes();
  CHECK(all.find("In the beginning God created the heaven and the earth.\nAnd the earth") == 0);
  CHECK(std::count(all.begin(), all.end(), '\n') == 31102);
  const std::string end = "The grace of our Lord Jesus Christ be with you all. Amen.\n";
  CHECK(all.substr(all.size() - end.size()) == end);
  CHECK(std::all_of(all.begin(), all.end(),
                    [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

TEST_CASE("drawn_rows: all of the text in reach, targets too") {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += static_cast<char>(i);
  const auto rows = text::drawn_rows({"a text", bytes}, 90, dimesh::random_key{5}, 64);
  std::vector<int> seen(10, 0);
  const auto pass = rows.epoch(3);
  for (index_t i = 0; i < 64; ++i) {
    const auto [ids, next] = pass(i);
    REQUIRE(ids.size() == 90);
    REQUIRE(next.size() == 90);
    CHECK(next[0] == ids[0] + 1);
    ++seen[ids[0]];
  }
  for (const int n : seen) CHECK(n > 0);
}

TEST_CASE("rows_in_order: front to back, each byte a target once, again until a batch is full") {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += static_cast<char>(i);
  const auto starts = [&](index_t length, index_t n) {
    const auto pass = text::rows_in_order({"a text", bytes}, length, n).epoch(0);
    std::vector<int> all;
    for (index_t i = 0; i < pass.size(); ++i) all.push_back(std::get<0>(pass(i))[0]);
    return all;
  };
  CHECK(starts(10, 3) == std::vector<int>{0, 10, 20, 30, 40, 50, 60, 70, 80});
  CHECK(starts(40, 4) == std::vector<int>{0, 40, 0, 40});
  CHECK(starts(99, 2) == std::vector<int>{0, 0});
  has(thrown([&] { starts(100, 1); }), "'a text': has 100 bytes, and a window wants 101");
}

TEST_CASE("as_it_comes: each byte at once, halves of letters too, of the first of several rows") {
  const char* const plain = std::getenv("DIMESH_PLAIN");
  const std::string before = plain != nullptr ? plain : "";
  unsetenv("DIMESH_PLAIN");
  std::vector<std::string> seen;
  bool others = true;
  {
    const terminal t;
    const auto written = text::as_it_comes("Le caf", 0);
    const auto gives = [&](index_t row, int byte, std::size_t n) {
      written(row, byte);
      if (n > 0) seen.push_back(t.shown(n));
    };
    others = static_cast<bool>(text::as_it_comes("Le caf", 1));
    if (written) {
      gives(1, 0xe2, 0);
      gives(0, 0xc3, 7);
      gives(1, 0x82, 0);
      gives(0, 0xa9, 1);
      gives(1, 0xac, 0);
      for (const int byte : {0xe2, 0x82, 0xac, int{'.'}}) gives(0, byte, 1);
    }
    setenv("DIMESH_PLAIN", "1", 1);
    others = others || text::as_it_comes("Le caf", 0);
  }
  if (plain == nullptr)
    unsetenv("DIMESH_PLAIN");
  else
    setenv("DIMESH_PLAIN", before.c_str(), 1);
  CHECK(seen == std::vector<std::string>{"Le caf\xc3", "\xa9", "\xe2", "\x82", "\xac", "."});
  CHECK(!others);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/train/progress.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <vector>

namespace {

using dimesh::progress_line;

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("progress_line: one line on a terminal, one for each part of the steps elsewhere") {
  std::ostringstream terminal, file;
  {
    progress_line one(terminal, true, "batch", 1000), many(file, false, "batch", 1000);
    for (int s = 1; s <= 1000; ++s) one.update(s, 0.5), many.update(s, 0.5);
  }
  CHECK(lines(terminal.str()).size() == 1);
  CHECK(terminal.str().find("[####################]  1000/1000  loss 0.5000") != std::string::npos);
  CHECK(lines(file.str()).size() == 4);
  CHECK(lines(file.str())[1].find("[##########----------]   500/1000") != std::string::npos);
}

TEST_CASE("progress_line: words of the caller's, made only where they are shown") {
  std::ostringstream file;
  int made = 0;
  progress_line p(file, false, "batch", 95, 10);
  for (int s = 1; s <= 95; ++s)
    p.update(s, [&](double) { return "word " + std::to_string(++made); });
  CHECK(made == 10);
  CHECK(lines(file.str()).back().find("95/95  word 10") != std::string::npos);
}

TEST_CASE("rates_text and time_text: what a line of progress tells") {
  const std::vector<dimesh::step_rate> all = {
      {"tokens", 2048}, {"rows", 3 << 20, true}, {"cols", 1024, true}};
  CHECK(dimesh::rates_text(all, 10, 2) == "10,240 tokens/s  rows 15.0 MiB/s  cols 5.0 KiB/s");
  CHECK(dimesh::rates_text({{"rows", 7, true}}, 2, 1) == "rows 14 B/s");
  CHECK(dimesh::rates_text(all, 1, 0).empty());  // no time has passed
  CHECK(dimesh::rates_text({}, 10, 2).empty());
  CHECK(dimesh::time_text(8.4) == "8 s");
  CHECK(dimesh::time_text(499.6) == "8 min 20 s");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/common/progress.hpp"

#include "../../../examples/language_model/progress.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <vector>

namespace {

using namespace report;

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

TEST_CASE("training_progress: tokens, bytes of each axis, and time left") {
  const bytes_by_axis bytes = {{"rows", 3 << 20}, {"cols", 1024}};
  CHECK(training_rates(10, 40, 2.0, 2.5, 2048, bytes) ==
        "loss 2.5000  10,240 tokens/s  rows 15.0 MiB/s  cols 5.0 KiB/s  6 s left");
  CHECK(training_rates(40, 40, 8.0, 2.5, 2048, {}) == "loss 2.5000  10,240 tokens/s  8 s");
  CHECK(training_rates(1, 1000, 0.5, 2.5, 1, {}) == "loss 2.5000  2 tokens/s  8 min 20 s left");
  CHECK(training_rates(1, 2, 0, 2.5, 1, {}) == "loss 2.5000  0 s left");  // no time has passed
  std::ostringstream file;
  {
    training_progress p(file, false, "data", 30, 2048, bytes);
    for (int s = 1; s <= 30; ++s) p.update(s, 1.5);
  }
  CHECK(lines(file.str()).size() == 10);
  CHECK(lines(file.str())[0].find("3/30  loss 1.5000") != std::string::npos);
}

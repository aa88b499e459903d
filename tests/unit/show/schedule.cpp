// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/show/schedule.hpp"

#include <doctest/doctest.h>

#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/pipeline/zero_bubble.hpp"

namespace dm = dimesh;

namespace {
std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
}  // namespace

TEST_CASE("draw_text: a schedule, rank by rank") {
  CHECK(dm::draw_text(dm::one_f_one_b{2, 2}, dm::stage_times{.backward_weight = 0}) ==
        "rank 0  F0 F1 .  B0 .  B1\n"
        "rank 1  .  F0 B0 F1 B1 .\n");
  CHECK(dm::draw_text(dm::gpipe{2, 2}) ==
        "rank 0  F0 F1 .  .  .  B0--- B1---\n"
        "rank 1  .  F0 F1 B0--- B1--- .  .\n");
  CHECK(dm::draw_text(dm::zb_v{1, 1}) == "rank 0  F0  F0b B0b W0b B0  W0\n");
  try {
    dm::draw_text(dm::interleaved{2, 3, 2});
    FAIL("no error");
  } catch (const dm::error& e) {
    CHECK(std::string(e.what()) == "draw_text: this schedule cannot run, so it cannot be drawn");
  }
}

TEST_CASE("draw_svg: a bar for each operation on a shaded line for each rank") {
  const std::string svg = dm::draw_svg(dm::one_f_one_b{3, 4}, dm::stage_times{}, "a < b");
  CHECK(svg.find("<svg ") == 0);
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  CHECK(count(svg, "<title>") == 24);
  CHECK(count(svg, "fill=\"url(#bubble)\"") == 4);
  CHECK(count(svg, "bubble: 33.3 %") == 1);
  CHECK(count(svg, "<title>B3: micro-batch 3, stage 2, ") == 1);
  CHECK(count(svg, "a &lt; b") == 1);
}

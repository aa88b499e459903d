// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dimesh/show/svg.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using dimesh::line_plot;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("line_plot: a path and a legend entry per series, labels escaped") {
  line_plot p{.title = "a < b & c", .x_label = "step", .y_label = "loss"};
  p.series.push_back({"one", {0, 1, 2}, {3, 2, 1}});
  p.series.push_back({"two \"2\"", {0, 1, 2}, {1, 2, 3}});
  const std::string svg = p.svg();
  CHECK(svg.find("<svg ") == 0);
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  CHECK(count(svg, "<path ") == 2);
  CHECK(svg.find(">a &lt; b &amp; c</text>") != std::string::npos);
  CHECK(svg.find(">two &quot;2&quot;</text>") != std::string::npos);
  CHECK(svg.find(">step</text>") != std::string::npos);
  CHECK(svg.find(">loss</text>") != std::string::npos);
}

TEST_CASE("line_plot: larger values stand higher, first and last x at the frame's ends") {
  line_plot p{.width = 500, .height = 300};
  p.series.push_back({"", {10, 20}, {1, 4}});
  const std::string svg = p.svg();
  const auto at = svg.find("<path d=\"M");
  REQUIRE(at != std::string::npos);
  std::istringstream in(svg.substr(at + 10));
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  char l = 0;
  in >> x0 >> y0 >> l >> x1 >> y1;
  CHECK(l == 'L');
  CHECK(x0 == 78);
  CHECK(x1 == 500 - 76);
  CHECK(y0 > y1);
  CHECK(y1 > 52);
  CHECK(y0 < 300 - 62);
}

TEST_CASE("line_plot: round ticks") {
  line_plot p;
  p.series.push_back({"s", {0, 100}, {0.113, 0.871}});
  const std::string svg = p.svg();
  for (const char* label : {">0<", ">20<", ">100<", ">0.2<", ">0.8<"})
    CHECK(svg.find(label) != std::string::npos);
  CHECK(svg.find(">0.30000") == std::string::npos);
}

TEST_CASE("line_plot: a log axis has decades for ticks and leaves out what is not positive") {
  line_plot p{.log_y = true};
  p.series.push_back({"s", {0, 1, 2, 3}, {1e-7, 0, 1e-4, 1e-1}});
  const std::string svg = p.svg();
  for (const char* label : {">1e-7<", ">1e-4<", ">0.001<", ">0.1<"})
    CHECK(svg.find(label) != std::string::npos);
  const std::string path = svg.substr(svg.find("<path d="));
  CHECK(count(path.substr(0, path.find("/>")), "M") == 2);
}

TEST_CASE("line_plot: nothing to draw, one point, constants, not-a-number") {
  line_plot p;
  CHECK(count(p.svg(), "<path") == 0);
  p.series.push_back({"none", {}, {}});
  p.series.push_back({"point", {1}, {5}});
  p.series.push_back({"flat", {0, 1}, {5, 5}});
  p.series.push_back({"gap", {0, 1, 2}, {1, std::nan(""), 2}});
  for (const bool log_y : {false, true}) {
    p.log_y = log_y;
    const std::string svg = p.svg();
    CHECK(count(svg, "<path") == 3);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
  }
}

TEST_CASE("line_plot: large values that hardly differ") {
  const double big = 1e20, next = std::nextafter(big, 1e21);
  for (const auto& [from, to] :
       {std::pair(1e17, 1e17), std::pair(-1e300, -1e300), std::pair(big, next),
        std::pair(-next, -big), std::pair(1e16, 1e16 + 2), std::pair(5e8, 5e8)}) {
    line_plot p;
    p.series.push_back({"flat", {0, 1}, {from, to}});
    p.series.push_back({"upright", {from, to}, {from, to}});
    const std::string svg = p.svg();
    CAPTURE(from);
    CHECK(count(svg, "<path") == 2);
    CHECK(count(svg, "nan") + count(svg, "inf") == 0);
    CHECK(count(svg, "<line ") >= 4 + 2);
    CHECK(count(svg, "<line ") <= 20);
  }
}

TEST_CASE("line_plot: striped curves take turns, the legend stays solid") {
  line_plot p{.striped = true};
  p.series.push_back({"only", {0, 1}, {0, 1}});
  CHECK(count(p.svg(), "stroke-dasharray") == 0);
  p.series.push_back({"other", {0, 1}, {0, 1}});
  p.series.push_back({"third", {0, 1}, {0, 1}});
  const std::string svg = p.svg();
  CHECK(count(svg, "stroke-dasharray=\"9 18\"") == 3);
  CHECK(count(svg, "stroke-dashoffset=\"0\"") == 1);
  CHECK(count(svg, "stroke-dashoffset=\"-9\"") == 1);
  CHECK(count(svg, "stroke-dashoffset=\"-18\"") == 1);
}

TEST_CASE("line_plot: write") {
  line_plot p{.title = "t"};
  const auto path = fs::temp_directory_path() / ("dimesh_svg_" + std::to_string(getpid()));
  p.write(path.string());
  CHECK(fs::file_size(path) == p.svg().size());
  fs::remove(path);
  CHECK_THROWS_WITH_AS(p.write("/no/such/folder/p.svg"),
                       "line_plot::write: '/no/such/folder/p.svg' cannot be written",
                       dimesh::error);
}

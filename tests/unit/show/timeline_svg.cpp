// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dimesh/show/timeline_svg.hpp>

#include <doctest/doctest.h>

#include <filesystem>

#include <unistd.h>

namespace {

using dimesh::lane;
using dimesh::rank_span;
using dimesh::timeline_plot;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Two steps of 100 ms on two ranks; of each, 20 ms in an all-reduce.
timeline_plot example() {
  timeline_plot p{.title = "a < b"};
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 2; ++step) {
      const double t = 0.1 * step + 0.01 * rank;
      p.spans.push_back({rank, "step", lane::compute, "", 0, t, t + 0.1});
      p.spans.push_back({rank, "forward", lane::compute, "", 0, t, t + 0.05});
      p.spans.push_back(
          {rank, "all_reduce", lane::communication, "rows", 4096, t + 0.02, t + 0.04});
    }
  return p;
}

}  // namespace

TEST_CASE("timeline_plot: a bar for each span, a legend for each name, the share of MPI") {
  const std::string svg = example().svg();
  CHECK(svg.find("<svg ") == 0);
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  CHECK(count(svg, "<title>") == 12);
  CHECK(count(svg, "<title>all_reduce: 20.000 ms, 4096 bytes over rows</title>") == 4);
  CHECK(count(svg, "<title>step: 100.000 ms</title>") == 4);
  for (const char* name : {">step<", ">forward<", ">all_reduce<", ">rank 0<", ">rank 1<"})
    CHECK(count(svg, name) == 1);
  CHECK(count(svg, ">19.0 % in MPI<") == 2);  // 40 of 210 ms
  CHECK(svg.find(">a &lt; b</text>") != std::string::npos);
}

TEST_CASE("timeline_plot: one step of them") {
  timeline_plot p = example();
  p.show("step", 1);
  CHECK(p.from == doctest::Approx(0.1));
  CHECK(p.to == doctest::Approx(0.21));
  const std::string svg = p.svg();
  CHECK(count(svg, "<title>step") == 3);  // rank 1 ends its first one
  CHECK(count(svg, "<title>all_reduce") == 2);
  CHECK(count(svg, ">18.2 % in MPI<") == 2);  // 20 of 110 ms
  CHECK(svg.find(">0 ms<") != std::string::npos);
  CHECK(svg.find(">100 ms<") != std::string::npos);
  CHECK_THROWS_WITH_AS(p.show("step", 2), "timeline_plot::show: no rank has 3 spans 'step'",
                       dimesh::error);
}

TEST_CASE("timeline_plot: nothing to show, and nothing of length") {
  timeline_plot p;
  CHECK(count(p.svg(), "<title>") == 0);
  p.spans.push_back({3, "moment", lane::compute, "", 0, 5, 5});
  CHECK(p.svg().find("nan") == std::string::npos);
  CHECK(p.svg().find("rank 3") != std::string::npos);
}

TEST_CASE("timeline_plot: write") {
  const auto path =
      std::filesystem::temp_directory_path() / ("dimesh_timeline_" + std::to_string(getpid()));
  example().write(path.string());
  CHECK(std::filesystem::file_size(path) == example().svg().size());
  std::filesystem::remove(path);
  CHECK_THROWS_WITH_AS(example().write("/no/such/folder/t.svg"),
                       "timeline_plot::write: '/no/such/folder/t.svg' cannot be written",
                       dimesh::error);
}

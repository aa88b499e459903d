// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run's figures are as a text, and what is none.
#include "dimesh/train/metric_history.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace {
namespace dm = dimesh;

TEST_CASE("metric_history: its text gives it back to the last bit, whatever the names") {
  dm::metric_history h;
  const std::vector<double> figures = {0.1,
                                       -0.0,
                                       1e-310,
                                       std::numeric_limits<double>::max(),
                                       std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity(),
                                       std::nan("")};
  const char* const tags[] = {"training/loss", "", "two words\n3 4 ", "\xc3\xa9"};
  dm::index_t step = std::numeric_limits<std::int32_t>::max();
  for (const double v : figures)
    for (const char* const tag : tags) h.add(step++, tag, v);
  dm::metric_history again;
  again.add_text(h.text());
  CHECK(again.text() == h.text());
  REQUIRE(again.series().size() == 4);
  for (const char* const tag : tags) {
    const auto& found = again.values(tag);
    REQUIRE(found.size() == figures.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK((std::isnan(figures[i]) ? std::isnan(found[i])
                                    : std::memcmp(&found[i], &figures[i], sizeof(double)) == 0));
  }
  CHECK(again.series()[3].step[0] == h.series()[3].step[0]);
  CHECK(again.values("nobody").empty());
  again.add_text(h.text());  // of a run before it
  CHECK(again.values("").size() == 2 * figures.size());
}

TEST_CASE("metric_history: other texts are refused") {
  dm::metric_history h;
  h.add(7, "a/b", 0.5);
  const std::string text = h.text();
  for (std::size_t n = 1; n < text.size(); ++n)
    CHECK_THROWS_AS(dm::metric_history().add_text(text.substr(0, n)), dm::error);
  for (const char* const bad : {"x", "1", "-1 1 a\n", "1 -1 a\n", "1 99999999999999999999 a\n",
                                "1 3 a\n1 1p+0\n", "1 1 a\n1 what\n", "1 1 a 1 1p+0\n2"})
    CHECK_THROWS_WITH_AS(dm::metric_history().add_text(bad),
                         "metric_history: this is no text of figures that it wrote", dm::error);
  dm::metric_history none;
  none.add_text("");
  CHECK(none.series().empty());
}
}  // namespace

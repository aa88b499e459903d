// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/show/pipeline_timeline.hpp"

#include <doctest/doctest.h>

#include "dimesh/pipeline/schedules.hpp"

namespace dm = dimesh;

namespace {

/// What gather_timeline would give of a run that takes as long as the simulator says, in seconds
/// from `start` on; each coordinate has `copies` ranks.
template <class S> std::vector<dm::rank_span> spans_of(const S& s, int copies, double start) {
  const dm::schedule_run run = dm::simulate(s);
  std::vector<dm::rank_span> all;
  for (int rank = 0; rank < s.ranks * copies; ++rank)
    for (const dm::timed_operation& o : run.of(rank / copies))
      all.push_back({.rank = rank,
                     .name = o.what.work == dm::stage_work::forward ? "forward" : "backward",
                     .begin = start + o.begin,
                     .end = start + o.end});
  return all;
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("pipeline_timeline: the bubble is what the simulator says") {
  for (const int copies : {1, 2}) {
    const dm::one_f_one_b s{3, 4};
    const dm::pipeline_timeline t(s, spans_of(s, copies, 5), copies);
    CHECK(t.makespan == doctest::Approx(6 * 3));
    CHECK(t.bubble == doctest::Approx(2. / 6));
    double idle = 0;
    int bubbles = 0;
    const auto all = t.with_bubble();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].name == "bubble") idle += all[i].end - all[i].begin, ++bubbles;
      if (i > 0 && all[i - 1].rank == all[i].rank) CHECK(all[i - 1].end == all[i].begin);
    }
    CHECK(idle == doctest::Approx(2. / 6 * 18 * 3 * copies));
    CHECK(bubbles > 3 * copies);
    CHECK(has(t.svg("here"), "bubble: 33.3 %"));
    CHECK(has(t.svg("here"), "B3: micro-batch 3, stage 2"));
    for (const dm::rank_span& one : all) {
      const std::string event = dm::trace_json({one});
      CHECK(has(event, "\"cname\":\"grey\"") == (one.name == "bubble"));
      CHECK(has(event, "\"name\":\"bubble\"") == (one.name == "bubble"));
    }
  }
}

TEST_CASE("pipeline_timeline: spans of another run are refused") {
  const dm::gpipe s{2, 2};
  const char* const text = "pipeline_timeline: the spans are not those of one run of this schedule";
  auto less = spans_of(s, 1, 0);
  less.pop_back();
  CHECK_THROWS_WITH_AS(dm::pipeline_timeline(s, less), doctest::Contains(text), dm::error);
  CHECK_THROWS_WITH_AS(dm::pipeline_timeline(dm::one_f_one_b{2, 2}, spans_of(s, 1, 0)),
                       doctest::Contains(text), dm::error);
  CHECK_THROWS_WITH_AS(dm::pipeline_timeline(s, spans_of(s, 2, 0)), doctest::Contains(text),
                       dm::error);
  CHECK_THROWS_WITH_AS(dm::pipeline_timeline(s, {}), doctest::Contains(text), dm::error);
}

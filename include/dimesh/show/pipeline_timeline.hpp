// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What did the ranks of a pipeline really do, and when did they wait? The recorded spans of one
// run, read along its schedule: each operation by its micro-batch, and the bubble between them.
//
//   timeline::instance().start();  net.value_and_grad(s, ...);  timeline::instance().stop();
//   const auto spans = gather_timeline(g);                    // collective; all of them on rank 0
//   const pipeline_timeline t(s, spans, 2);                   // two ranks at each coordinate
//   t.bubble           -> the share of all ranks' time in which they did none of its operations
//   t.svg("1F1B")      -> bars to scale, the bubble shaded;  write_trace("t.json", t.with_bubble())
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "dimesh/show/schedule.hpp"
#include "dimesh/show/trace.hpp"

namespace dimesh {

class pipeline_timeline {
 public:
  double makespan = 0;  ///< seconds from the first operation's begin to the last one's end
  double bubble = 0;  ///< the share of all ranks' time, makespan each, in which they do nothing

  /// Of a recorded run of a schedule. Ranks are those of a grid whose first axis is the pipeline's:
  /// `copies` of them at each coordinate. Throws dimesh::error where the spans are not those of one
  /// run.
  template <PipelineSchedule S>
  pipeline_timeline(const S& s, const std::vector<rank_span>& spans, int copies = 1)
      : spans_(spans) {
    scene_.ranks = s.ranks * copies;
    std::vector<int> next(static_cast<std::size_t>(scene_.ranks), 0);
    for (const rank_span& span : spans) {
      if (!is_work(span)) continue;
      const bool known = span.rank < scene_.ranks;
      int& k = next[static_cast<std::size_t>(known ? span.rank : 0)];
      if (!known || k == s.length(span.rank / copies)) refuse();
      const stage_operation o = s.at(span.rank / copies, k++);
      if ((o.work == stage_work::forward) != (span.name == std::string("forward"))) refuse();
      scene_.all.push_back(drawn(o, span));
    }
    for (int r = 0; r < scene_.ranks; ++r)
      if (next[static_cast<std::size_t>(r)] != s.length(r / copies)) refuse();
    measure();
  }

  /// The text of an SVG file: a line for each rank, times in milliseconds.
  std::string svg(const std::string& title = {}) const {
    return detail::schedule_picture::svg_of(scene_, title);
  }
  /// All spans, and one called "bubble" wherever a rank waited between the first operation of all
  /// ranks and the last one. Ordered as gather_timeline does.
  std::vector<rank_span> with_bubble() const {
    std::vector<rank_span> all = spans_;
    for (int rank = 0; rank < scene_.ranks; ++rank) {
      double from = start_;
      const auto gap = [&](double to) {
        if (to > from)
          all.push_back({.rank = rank, .name = "bubble", .begin = from, .end = to, .idle = true});
      };
      for (const auto& o : scene_.all) {
        if (o.rank != rank) continue;
        gap(start_ + o.begin / milli);
        from = start_ + o.end / milli;
      }
      gap(start_ + makespan);
    }
    std::sort(all.begin(), all.end(), [](const rank_span& a, const rank_span& b) {
      if (a.rank != b.rank) return a.rank < b.rank;
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    return all;
  }

 private:
  static constexpr double milli = 1e3;
  static bool is_work(const rank_span& s) {
    return s.where == lane::compute && (s.name == "forward" || s.name == "backward");
  }
  [[noreturn]] static void refuse() {
    throw error(
        "pipeline_timeline: the spans are not those of one run of this schedule; record one run "
        "between timeline's start and stop");
  }
  static detail::schedule_picture::drawn drawn(const stage_operation& o, const rank_span& span) {
    const char* const letter = o.work == stage_work::forward           ? "F"
                               : o.work == stage_work::backward_weight ? "W"
                                                                       : "B";
    return {span.rank,
            o.work,
            letter + std::to_string(o.micro),
            "micro-batch " + std::to_string(o.micro) + ", stage " + std::to_string(o.stage),
            span.begin,
            span.end};
  }
  /// Times from here on: milliseconds since the first operation.
  void measure() {
    if (scene_.all.empty()) refuse();
    double end = scene_.all.front().end, busy = 0;
    start_ = scene_.all.front().begin;
    for (const auto& o : scene_.all) {
      start_ = std::min(start_, o.begin), end = std::max(end, o.end);
      busy += o.end - o.begin;
    }
    for (auto& o : scene_.all)
      o.begin = (o.begin - start_) * milli, o.end = (o.end - start_) * milli;
    makespan = end - start_;
    bubble = makespan > 0 ? 1 - busy / (makespan * scene_.ranks) : 0;
    scene_.makespan = makespan * milli, scene_.bubble = bubble;
  }

  std::vector<rank_span> spans_;
  detail::schedule_picture::scene scene_;
  double start_ = 0;
};

}  // namespace dimesh

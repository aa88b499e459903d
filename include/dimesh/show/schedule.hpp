// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a pipeline's schedule look like? A line of time for each rank, for the terminal or the
// browser; what is left of it is the bubble.
//
//   draw_text(one_f_one_b{2, 2}, stage_times{.backward_weight = 0})
//     rank 0  F0 F1 .  B0 .  B1
//     rank 1  .  F0 B0 F1 B1 .
//   draw_svg(zb_v{4, 8})      -> the text of an SVG file, the bubble shaded and its share told
//
// F, B, W: forward, backward (or its part for the input), the part for the weights; the number is
// the micro-batch. Of ranks with several stages, b, c, ... stand behind the second, third, ...
// one's.
#pragma once

#include <string>

#include "dimesh/pipeline/check.hpp"
#include "dimesh/show/svg.hpp"

namespace dimesh {

namespace detail::schedule_picture {

/// An operation to draw.
struct drawn {
  int rank;
  stage_work work;
  std::string label;
  std::string words;
  double begin, end;
};

struct scene {
  int ranks = 0;
  double makespan = 0, bubble = 0;
  double shortest = 0;  ///< of the operations that take time
  std::vector<drawn> all = {};  ///< rank by rank, in order
};

template <PipelineSchedule S, class Times>
scene scene_of(const S& s, const Times& times, const char* call) {
  const schedule_facts facts = check_schedule(s, times);
  if (!facts.ok())
    throw error(std::string(call) + ": this schedule cannot run, so it cannot be drawn");
  scene c{s.ranks, facts.makespan, facts.bubble};
  const schedule_run run = simulate(s, times);
  for (int rank = 0; rank < s.ranks; ++rank) {
    std::vector<int> stages;
    for (int stage = 0; stage < s.stages(); ++stage)
      for (int micro = 0; micro < s.micros; ++micro)
        if (s.rank_of(stage, micro) == rank && (stages.empty() || stages.back() != stage))
          stages.push_back(stage);
    for (const timed_operation& o : run.of(rank)) {
      const auto w = o.what.work;
      std::string label(w == stage_work::forward           ? "F"
                        : w == stage_work::backward_weight ? "W"
                                                           : "B");
      label += std::to_string(o.what.micro);
      const auto at = std::find(stages.begin(), stages.end(), o.what.stage) - stages.begin();
      if (at > 0) label += static_cast<char>('a' + at % 26);
      c.all.push_back({rank, w, label,
                       "micro-batch " + std::to_string(o.what.micro) + ", stage " +
                           std::to_string(o.what.stage),
                       o.begin, o.end});
      const double time = o.end - o.begin;
      if (time > 0 && (c.shortest == 0 || time < c.shortest)) c.shortest = time;
    }
  }
  return c;
}

inline std::string text_of(const scene& c) {
  std::size_t wide = 1;
  for (const drawn& d : c.all) wide = std::max(wide, d.label.size());
  const double unit = c.shortest > 0 ? c.shortest : 1;
  const auto column = [&](double t) { return static_cast<std::size_t>(std::lround(t / unit)); };
  std::string out;
  for (int rank = 0; rank < c.ranks; ++rank) {
    std::string line;
    for (std::size_t i = 0; i < column(c.makespan); ++i) line += "." + std::string(wide, ' ');
    for (const drawn& d : c.all) {
      const std::size_t from = column(d.begin) * (wide + 1), to = column(d.end) * (wide + 1);
      if (d.rank != rank || to <= from) continue;
      std::string bar = d.label + std::string(to - from - d.label.size(), '-');
      bar.replace(bar.size() - 1, 1, " ");
      // A label that is shorter than its cell is not underlined in its first cell.
      for (std::size_t i = d.label.size(); i <= wide && i < bar.size(); ++i) bar[i] = ' ';
      if (to - from > wide + 1)
        for (std::size_t i = d.label.size(); i + 1 < bar.size(); ++i) bar[i] = '-';
      line.replace(from, to - from, bar);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    const std::string name = "rank " + std::to_string(rank);
    out += name + std::string(name.size() < 8 ? 8 - name.size() : 1, ' ') + line + "\n";
  }
  return out;
}

constexpr double left = 78, right = 24, top = 58, row = 30, height_of_bar = 24;

inline std::string bar(const drawn& d, double scale) {
  const std::size_t kind = d.work == stage_work::forward           ? 0
                           : d.work == stage_work::backward_weight ? 2
                                                                   : 1;
  const double x = left + d.begin * scale, wide = (d.end - d.begin) * scale;
  const double y = top + row * d.rank;
  std::string out = "<rect x=\"" + svg::number(x, "%.2f") + "\" y=\"" + svg::number(y) +
                    "\" width=\"" + svg::number(wide, "%.2f") + "\" height=\"" +
                    svg::number(height_of_bar) + "\" fill=\"" + svg::colour(kind) +
                    "\" stroke=\"#ffffff\" stroke-width=\"0.7\"><title>" +
                    svg::escape(d.label + ": " + d.words + ", " + svg::number(d.begin) + " to " +
                                svg::number(d.end)) +
                    "</title></rect>\n";
  const std::string label = d.label.substr(1);
  if (wide >= 7.5 * static_cast<double>(label.size()))
    out += svg::text(x + wide / 2, y + 16, label,
                     "text-anchor=\"middle\" font-size=\"11\" fill=\"#ffffff\"");
  return out;
}

inline std::string svg_of(const scene& c, const std::string& title) {
  const double width = 960, scale = (width - left - right) / (c.makespan > 0 ? c.makespan : 1);
  const double bottom = top + row * c.ranks;
  const std::string wide = svg::number(width), high = svg::number(bottom + 40);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + wide + "\" height=\"" +
                    high + "\" viewBox=\"0 0 " + wide + " " + high +
                    "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
                    "fill=\"#1f2933\">\n<defs><pattern id=\"bubble\" width=\"6\" height=\"6\" "
                    "patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" "
                    "fill=\"#e4e7eb\"/><path d=\"M0 6L6 0\" stroke=\"#9aa5b1\"/></pattern></defs>\n"
                    "<rect width=\"" +
                    wide + "\" height=\"" + high + "\" fill=\"#ffffff\"/>\n";
  out += svg::text(left, 30, title, "font-size=\"17\" font-weight=\"600\"");
  for (int rank = 0; rank < c.ranks; ++rank) {
    const std::string y = svg::number(top + row * rank);
    out += svg::text(left - 10, top + row * rank + 16, "rank " + std::to_string(rank),
                     "text-anchor=\"end\"");
    out += "<rect x=\"" + svg::number(left) + "\" y=\"" + y + "\" width=\"" +
           svg::number(c.makespan * scale, "%.2f") + "\" height=\"" + svg::number(height_of_bar) +
           "\" fill=\"url(#bubble)\"/>\n";
  }
  for (const drawn& d : c.all)
    if (d.end > d.begin) out += bar(d, scale);
  const char* const names[] = {"forward", "backward", "gradient of weights"};
  double x = left;
  for (std::size_t i = 0; i < 3; ++i, x += 34 + 7.4 * 20)
    out += "<rect x=\"" + svg::number(x) + "\" y=\"" + svg::number(bottom + 12) +
           "\" width=\"14\" height=\"12\" fill=\"" + svg::colour(i) + "\"/>\n" +
           svg::text(x + 20, bottom + 22, names[i]);
  out += "<rect x=\"" + svg::number(x) + "\" y=\"" + svg::number(bottom + 12) +
         "\" width=\"14\" height=\"12\" fill=\"url(#bubble)\"/>\n" +
         svg::text(x + 20, bottom + 22, "bubble: " + svg::number(100 * c.bubble, "%.1f") + " %");
  return out + "</svg>\n";
}

}  // namespace detail::schedule_picture

/// The schedule as lines of text, a rank each; a column for each time that the shortest operation
/// takes. Throws dimesh::error if it cannot run.
template <PipelineSchedule S, class Times = stage_times>
std::string draw_text(const S& s, const Times& times = {}) {
  return detail::schedule_picture::text_of(
      detail::schedule_picture::scene_of(s, times, "draw_text"));
}

/// The schedule as an SVG file's text: bars to scale, the bubble shaded. Throws as draw_text does.
template <PipelineSchedule S, class Times = stage_times>
std::string draw_svg(const S& s, const Times& times = {}, const std::string& title = {}) {
  return detail::schedule_picture::svg_of(detail::schedule_picture::scene_of(s, times, "draw_svg"),
                                          title);
}

}  // namespace dimesh

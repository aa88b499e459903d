// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does a step's time go? A picture of a part of the timeline: for each rank a lane of
// compute, phases inside others inset, and below it a lane of MPI calls with their share of the
// time.
//
//   timeline_plot p{.title = "One step", .spans = gather_timeline(g)};
//   p.show("step", 2);     // the third span of that name, on all ranks; otherwise everything
//   p.svg()  -> "<svg ...>...</svg>"      p.write("timeline.svg")
#pragma once

#include <map>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/show/svg.hpp"
#include "dimesh/show/trace.hpp"

namespace dimesh {

struct timeline_plot {
  std::string title = {};
  double width = 960;
  std::vector<rank_span> spans = {};  ///< ordered as gather_timeline does
  double from = 0, to = 0;  ///< seconds; an empty interval: from the first to the last span

  /// Shows the n-th span of this name, from the first rank's beginning to the last one's end.
  /// Throws dimesh::error if no rank has so many.
  void show(const std::string& name, int n);
  std::string svg() const;
  void write(const std::string& path) const;
};

inline void timeline_plot::show(const std::string& name, int n) {
  std::map<int, int> seen;
  from = std::numeric_limits<double>::infinity(), to = -from;
  for (const rank_span& s : spans)
    if (s.name == name && seen[s.rank]++ == n)
      from = std::min(from, s.begin), to = std::max(to, s.end);
  if (!(from < to))
    throw error("timeline_plot::show: no rank has " + std::to_string(n + 1) + " spans '" + name +
                "'");
}

namespace detail::timeline_svg {

constexpr double left = 78, right = 118, top = 52, lane_height = 22, gap = 3, row = 60;

/// Halfway to white.
inline std::string tint(const char* colour) {
  unsigned rgb = 0;
  std::sscanf(colour, "#%x", &rgb);
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", 0x808080u + (rgb >> 1 & 0x7f7f7fu));
  return text;
}

/// What all parts of the picture share: the time shown, the ranks from top to bottom, a colour for
/// each name: pale for phases, full for calls.
struct scene {
  double from, to, width;
  std::vector<int> ranks;
  std::vector<std::string> names;
  std::vector<std::string> colours;

  explicit scene(const timeline_plot& p) : from(p.from), to(p.to), width(p.width) {
    if (!(from < to)) {
      from = to = p.spans.empty() ? 0 : p.spans.front().begin;
      for (const auto& s : p.spans) from = std::min(from, s.begin), to = std::max(to, s.end);
      if (from == to) to = from + 1;
    }
    for (const auto& s : p.spans) {
      if (std::find(ranks.begin(), ranks.end(), s.rank) == ranks.end()) ranks.push_back(s.rank);
      if (!shows(s) || std::find(names.begin(), names.end(), s.name) != names.end()) continue;
      const char* const full = svg::colour(names.size());
      names.push_back(s.name);
      colours.push_back(s.where == lane::communication ? full : tint(full));
    }
  }
  bool shows(const rank_span& s) const { return s.begin < to && s.end > from; }
  double x(double t) const {
    return left + (std::clamp(t, from, to) - from) / (to - from) * (width - left - right);
  }
  double y(int rank) const {
    return top +
           row * static_cast<double>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }
  double bottom() const { return top + row * static_cast<double>(ranks.size()); }
  const std::string& colour(const std::string& name) const {
    return colours[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) -
                                            names.begin())];
  }
};

/// A bar, and its figures for a reader who points at it.
DIMESH_OUTLINE inline std::string bar(const scene& c, const rank_span& s, double inset) {
  const bool call = s.where == lane::communication;
  const double x = c.x(s.begin), y = c.y(s.rank) + (call ? lane_height + gap : inset);
  std::string words = s.name + ": " + svg::number(1e3 * (s.end - s.begin), "%.3f") + " ms";
  if (call && s.bytes > 0) words += ", " + std::to_string(s.bytes) + " bytes";
  if (!s.axes.empty()) words += " over " + s.axes;
  return "<rect x=\"" + svg::number(x, "%.2f") + "\" y=\"" + svg::number(y) + "\" width=\"" +
         svg::number(std::max(0.4, c.x(s.end) - x), "%.2f") + "\" height=\"" +
         svg::number(lane_height - inset) + "\" fill=\"" + c.colour(s.name) +
         (call ? "\"" : "\" stroke=\"#ffffff\" stroke-width=\"0.5\"") + "><title>" +
         svg::escape(words) + "</title></rect>\n";
}

/// The bars of all ranks; phases that lie in others are drawn later and a little lower.
DIMESH_OUTLINE inline std::string bars(const scene& c, const std::vector<rank_span>& spans) {
  std::string out;
  std::vector<const rank_span*> open;
  for (const rank_span& s : spans) {
    double inset = 0;
    if (s.where == lane::compute) {
      while (!open.empty() && (open.back()->rank != s.rank || open.back()->end <= s.begin))
        open.pop_back();
      inset = std::min(12.0, 4 * static_cast<double>(open.size()));
      open.push_back(&s);
    }
    if (c.shows(s)) out += bar(c, s, inset);
  }
  return out;
}

/// Names of the ranks at the left, the share of the time inside MPI at the right.
DIMESH_OUTLINE inline std::string margins(const scene& c, const std::vector<rank_span>& spans) {
  std::string out;
  for (const int rank : c.ranks) {
    double inside = 0;
    for (const rank_span& s : spans)
      if (s.rank == rank && s.where == lane::communication && c.shows(s))
        inside += std::min(s.end, c.to) - std::max(s.begin, c.from);
    out +=
        svg::text(left - 10, c.y(rank) + 16, "rank " + std::to_string(rank), "text-anchor=\"end\"");
    out += svg::text(left - 10, c.y(rank) + lane_height + gap + 16, "MPI",
                     "text-anchor=\"end\" fill=\"#52606d\"");
    out += svg::text(c.width - right + 10, c.y(rank) + lane_height + gap + 16,
                     svg::number(100 * inside / (c.to - c.from), "%.1f") + " % in MPI",
                     "fill=\"#52606d\"");
  }
  return out;
}

/// Ticks in milliseconds from the left end of the picture.
DIMESH_OUTLINE inline std::string ticks(const scene& c) {
  const double length = 1e3 * (c.to - c.from), step = svg::round_step(length, 8);
  std::string out;
  for (double t = 0; t <= length * (1 + 1e-9); t += step) {
    const double x = c.x(c.from + 1e-3 * t);
    out += svg::line(x, top - 6, x, c.bottom(), "stroke=\"#e4e7eb\"");
    out += svg::text(x, c.bottom() + 16, svg::number(t) + " ms",
                     "text-anchor=\"middle\" fill=\"#52606d\"");
  }
  return out;
}

/// Colours and names in lines below the picture. `lines` is how many they take.
DIMESH_OUTLINE inline std::string legend(const scene& c, int& lines) {
  std::string out;
  double x = left, y = c.bottom() + 46;
  lines = 1;
  for (const std::string& name : c.names) {
    const double wide = 34 + 7.4 * static_cast<double>(name.size());
    if (x + wide > c.width && x > left) x = left, y += 22, ++lines;
    out += "<rect x=\"" + svg::number(x) + "\" y=\"" + svg::number(y - 10) +
           "\" width=\"14\" height=\"12\" fill=\"" + c.colour(name) + "\"/>\n" +
           svg::text(x + 20, y, name);
    x += wide;
  }
  return out;
}

}  // namespace detail::timeline_svg

inline std::string timeline_plot::svg() const {
  using namespace detail::timeline_svg;
  using detail::svg::number, detail::svg::text;
  const scene c(*this);
  int lines = 0;
  const std::string names = legend(c, lines);
  const std::string height = number(c.bottom() + 40 + 22 * lines), wide = number(width);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + wide + "\" height=\"" + height +
         "\" viewBox=\"0 0 " + wide + " " + height +
         "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
         "fill=\"#1f2933\">\n<rect width=\"" +
         wide + "\" height=\"" + height + "\" fill=\"#ffffff\"/>\n" +
         text(left, 30, title, "font-size=\"17\" font-weight=\"600\"") + ticks(c) + bars(c, spans) +
         margins(c, spans) + names + "</svg>\n";
}

inline void timeline_plot::write(const std::string& path) const {
  std::ofstream out(path);
  if (!(out << svg() << std::flush))
    throw error("timeline_plot::write: '" + path + "' cannot be written");
}

}  // namespace dimesh

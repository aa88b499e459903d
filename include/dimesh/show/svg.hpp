// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a run become a picture? A line plot of a few series, as the text of an SVG file.
//
//   line_plot p{.title = "Training", .x_label = "step", .y_label = "loss"};
//   p.series.push_back({"batch", steps, losses});
//   p.svg()                 -> "<svg ...>...</svg>", for every browser, light background
//   p.write("losses.svg")   -> the same in a file; dimesh::error if that fails
#pragma once

#include <dimesh/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/show/escape.hpp"

namespace dimesh {

/// One curve: y over x; points that are not finite (or not positive on a log axis) break the line.
struct plot_series {
  std::string name = {};
  std::vector<double> x = {}, y = {};
  double width = 2;  ///< stroke, in pixels
};

struct line_plot {
  std::string title = {}, x_label = {}, y_label = {};
  bool log_y = false;
  bool striped = false;  ///< curves take turns in dashes: where they coincide, all can be seen
  double width = 860, height = 460;
  std::vector<plot_series> series = {};

  std::string svg() const;
  void write(const std::string& path) const;
};

namespace detail::svg {

DIMESH_OUTLINE inline std::string number(double v, const char* format = "%.6g") {
  char text[64];
  std::snprintf(text, sizeof text, format, v == 0 ? 0.0 : v);
  return text;
}

struct tick {
  double at;  ///< on the axis: the value, or its decimal logarithm
  std::string label;
};

/// One axis: the interval [low, high] of at-values, and round ticks inside it.
struct scale {
  double low = 0, high = 1;
  std::vector<tick> ticks = {};
  bool log = false;

  double at(double v) const { return log ? std::log10(v) : v; }
  bool shows(double v) const { return std::isfinite(v) && (!log || v > 0); }
};

/// The round step (1, 2 or 5 times a power of ten) that cuts the length into at most n parts.
inline double round_step(double length, int n) {
  const double raw = length / n, power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= raw * (1 - 1e-9)) return m * power;
  return 10 * power;
}

/// Ticks at every decade, or every few; `10^k` outside of what reads well in digits.
DIMESH_OUTLINE inline void log_ticks(scale& s) {
  const double step = std::max(1.0, std::ceil((s.high - s.low) / 8));
  for (double t = std::ceil(s.low - 1e-9); t <= s.high + 1e-9; t += step)
    s.ticks.push_back({t, std::abs(t) <= 3 ? number(std::pow(10.0, t)) : "1e" + number(t)});
}

/// `pad` widens the interval a little on both sides so that no curve runs along the frame.
DIMESH_OUTLINE inline scale fit(const line_plot& plot, std::vector<double> plot_series::* values,
                                bool log, double pad, int n) {
  scale s{
      std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), {}, log};
  for (const auto& one : plot.series)
    for (const double v : one.*values)
      if (s.shows(v)) s.low = std::min(s.low, s.at(v)), s.high = std::max(s.high, s.at(v));
  if (!(s.low <= s.high)) s.low = 0, s.high = 1;
  if (s.high - s.low < 1e-12 * std::max(1.0, std::abs(s.low))) {
    const double beside = std::max(0.5, 1e-9 * std::abs(s.low));  // half has no place beside 1e17
    s.low -= beside, s.high += beside;
  }
  if (log) s.low = std::min(s.low, s.high - 1);
  const double margin = pad * (s.high - s.low);
  s.low -= margin, s.high += margin;
  if (log && (log_ticks(s), s.ticks.size() >= 2)) return s;
  s.ticks.clear();
  const double step = round_step(s.high - s.low, n);
  for (double t = std::ceil(s.low / step - 1e-9) * step; t <= s.high + 1e-9 * step; t += step)
    s.ticks.push_back({t, number(log ? std::pow(10.0, t) : t, "%.4g")});
  return s;
}

/// Ten colours; the first six stay apart for colour-blind readers (Okabe and Ito, 2002; yellow
/// darkened).
inline const char* colour(std::size_t i) {
  static constexpr std::array<const char*, 10> all = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#56b4e9", "#e69f00", "#7a5195", "#4d4d4d",
                                                      "#b22222", "#8db600"};
  return all[i % all.size()];
}

/// Where the frame of the plot stands in the picture; the legend stands to its right.
struct frame {
  double left, top, right, bottom;
  double x(const scale& s, double at) const {
    return left + (at - s.low) / (s.high - s.low) * (right - left);
  }
  double y(const scale& s, double at) const {
    return bottom - (at - s.low) / (s.high - s.low) * (bottom - top);
  }
};

DIMESH_OUTLINE inline std::string text(double x, double y, const std::string& words,
                                       const std::string& rest = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + rest + ">" + escape(words) +
         "</text>\n";
}

DIMESH_OUTLINE inline std::string line(double x1, double y1, double x2, double y2,
                                       const std::string& rest) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
         "\" y2=\"" + number(y2) + "\" " + rest + "/>\n";
}

/// Grid lines, tick labels, axis labels.
DIMESH_OUTLINE inline std::string axes(const line_plot& p, const frame& f, const scale& xs,
                                       const scale& ys) {
  const std::string thin = "stroke=\"#e4e7eb\"", grey = "fill=\"#52606d\"";
  std::string out;
  for (const auto& t : ys.ticks) {
    out += line(f.left, f.y(ys, t.at), f.right, f.y(ys, t.at), thin);
    out += text(f.left - 8, f.y(ys, t.at) + 4, t.label, grey + " text-anchor=\"end\"");
  }
  for (const auto& t : xs.ticks) {
    out += line(f.x(xs, t.at), f.bottom, f.x(xs, t.at), f.bottom + 5, "stroke=\"#9aa5b1\"");
    out += text(f.x(xs, t.at), f.bottom + 20, t.label, grey + " text-anchor=\"middle\"");
  }
  out += line(f.left, f.bottom, f.right, f.bottom, "stroke=\"#9aa5b1\"");
  out += text((f.left + f.right) / 2, f.bottom + 44, p.x_label, "text-anchor=\"middle\"");
  const double middle = (f.top + f.bottom) / 2;
  out += text(20, middle, p.y_label,
              "text-anchor=\"middle\" transform=\"rotate(-90 20 " + number(middle) + ")\"");
  return out + text(f.left, 30, p.title, "font-size=\"17\" font-weight=\"600\"");
}

DIMESH_OUTLINE inline std::string stroke(const plot_series& s, std::size_t i) {
  return "fill=\"none\" stroke=\"" + std::string(colour(i)) + "\" stroke-width=\"" +
         number(s.width) + "\" stroke-linejoin=\"round\"";
}

/// One path per series; 'M' starts a new piece after a point that cannot be shown.
DIMESH_OUTLINE inline std::string curve(const plot_series& s, std::size_t i, const frame& f,
                                        const scale& xs, const scale& ys, const std::string& turn) {
  std::string path;
  bool pen_up = true;
  for (std::size_t k = 0; k < std::min(s.x.size(), s.y.size()); ++k) {
    const bool shown = xs.shows(s.x[k]) && ys.shows(s.y[k]);
    if (shown)
      path += (pen_up ? "M" : "L") + number(f.x(xs, s.x[k]), "%.1f") + " " +
              number(f.y(ys, ys.at(s.y[k])), "%.1f");
    pen_up = !shown;
  }
  return path.empty() ? "" : "<path d=\"" + path + "\" " + stroke(s, i) + turn + "/>\n";
}

/// The dashes of series i of n, 9 pixels each, so that together they cover the line.
DIMESH_OUTLINE inline std::string turn(std::size_t i, std::size_t n) {
  const double dash = 9, k = static_cast<double>(i), gaps = static_cast<double>(n - 1);
  return " stroke-dasharray=\"" + number(dash) + " " + number(dash * gaps) +
         "\" stroke-dashoffset=\"" + number(-dash * k) + "\"";
}

DIMESH_OUTLINE inline std::string legend(const line_plot& p, const frame& f) {
  std::string out;
  for (std::size_t i = 0; i < p.series.size(); ++i) {
    const double y = f.top + 12 + 22 * static_cast<double>(i);
    out += line(f.right + 18, y, f.right + 46, y, stroke(p.series[i], i));
    out += text(f.right + 54, y + 4, p.series[i].name);
  }
  return out;
}

}  // namespace detail::svg

inline std::string line_plot::svg() const {
  using namespace detail::svg;
  std::size_t longest = 0;
  for (const auto& s : series) longest = std::max(longest, s.name.size());
  const double beside = series.empty() ? 24 : 76 + 7.2 * static_cast<double>(longest);
  const frame f{78, 52, std::max(width - beside, 120.0), height - 62};
  const scale xs = fit(*this, &plot_series::x, false, 0, 8);
  const scale ys = fit(*this, &plot_series::y, log_y, 0.04, 7);
  const std::string size = number(width) + "\" height=\"" + number(height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size +
                    "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                    "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
                    "fill=\"#1f2933\">\n<rect width=\"" +
                    size + "\" fill=\"#ffffff\"/>\n";
  out += axes(*this, f, xs, ys);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const bool turns = striped && series.size() > 1;
    out += curve(series[i], i, f, xs, ys, turns ? turn(i, series.size()) : "");
  }
  return out + legend(*this, f) + "</svg>\n";
}

inline void line_plot::write(const std::string& path) const {
  std::ofstream out(path);
  if (!(out << svg() << std::flush))
    throw error("line_plot::write: '" + path + "' cannot be written");
}

}  // namespace dimesh

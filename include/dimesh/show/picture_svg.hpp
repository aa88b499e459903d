// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a layout look in a browser? Blocks to scale; each is filled with the colour of its rank,
// or lists its ranks: joined by = where they hold the same, by + where they hold addends.
//
//   svg_picture(picture(facts), "float[batch=8/rows:2]")  -> "<svg ...>...</svg>"
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dimesh/show/escape.hpp"
#include "dimesh/show/picture.hpp"

namespace dimesh::detail {

class svg_box {
 public:
  svg_box(const picture& p, const std::string& title) : p_(p), title_(title) {
    const double ratio =
        static_cast<double>(std::max<index_t>(p.across.extent, 1)) /
        static_cast<double>(std::max<index_t>(p.down.dim < 0 ? 1 : p.down.extent, 1));
    const double shape = std::clamp(std::sqrt(ratio), 0.7, 1.8);  // tamed: a bias is no hairline
    width_ = shape >= 1.2 ? 400 : 400 * std::max(shape, 0.85) / 1.2;
    height_ = p.down.dim < 0 ? 64 : std::min(320.0, width_ / shape);
    for (const block& b : p.down.blocks)
      if (p.down.dim >= 0) left_ = std::max(left_, 24 + text_width(block_text(b), 11));
    left_ = p.down.dim < 0 ? 28 : left_ + 26;
  }

  std::string draw() {
    double legend = 0;
    for (const std::string& line : p_.axis_lines)
      legend = std::max(legend, 34 + text_width(line, 13));
    legend = std::max(legend, text_width(p_.rest, 12));
    const double right = left_ + width_ + 36;
    const double all_width = std::max(right + legend + 24, 40 + text_width(title_, 15));
    const double legend_height =
        26 * static_cast<double>(p_.axis_lines.size()) + (p_.rest.empty() ? 0 : 26);
    const double all_height = top_ + std::max(height_, legend_height) + 28;
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + num(all_width) + "\" height=\"" +
           num(all_height) + "\" viewBox=\"0 0 " + num(all_width) + " " + num(all_height) +
           "\" font-family=\"Helvetica, Arial, sans-serif\">\n";
    rectangle(0, 0, all_width, all_height, "#ffffff", "none", 0);
    text(20, 30, title_, 15, "start", "#1b2733", "bold");
    if (p_.across.dim >= 0) across_labels();
    if (p_.down.dim >= 0) down_labels();
    for (std::size_t i = 0; i < p_.down.blocks.size(); ++i)
      for (std::size_t j = 0; j < p_.across.blocks.size(); ++j) cell(i, j);
    rectangle(left_, top_, width_, height_, "none", "#42505e", 0, 1.5);
    double y = top_ + 14;
    for (const std::string& line : p_.axis_lines) {
      mark(right, y, line);
      text(right + 24, y, line, 13, "start", "#1b2733");
      y += 26;
    }
    if (!p_.rest.empty()) text(right, y, p_.rest, 12, "start", "#5c6b7a");
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double top_ = 98;

  static std::string num(double v) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", std::round(v * 10) / 10);
    return text;
  }
  static double text_width(const std::string& s, double size) {
    return 0.58 * size * static_cast<double>(s.size());
  }
  /// Neighbouring ranks get distant hues, all of one softness.
  static std::string colour(index_t rank) {
    static constexpr const char* few[] = {"#8ecae6", "#ffd166", "#95d5b2", "#f4a6a6",
                                          "#cdb4db", "#f7b267", "#a3d5d3", "#d5c4a1"};
    if (rank < 8) return few[rank];
    return "hsl(" + num(std::fmod(200.0 + 137.508 * static_cast<double>(rank), 360.0)) +
           ", 60%, 78%)";
  }
  void rectangle(double x, double y, double w, double h, const std::string& fill,
                 const std::string& line, double round, double thick = 1) {
    out_ += "<rect x=\"" + num(x) + "\" y=\"" + num(y) + "\" width=\"" + num(w) + "\" height=\"" +
            num(h) + "\" rx=\"" + num(round) + "\" fill=\"" + fill + "\" stroke=\"" + line +
            "\" stroke-width=\"" + num(thick) + "\"/>\n";
  }
  void text(double x, double y, const std::string& s, double size, const char* anchor,
            const char* fill, const char* weight = "normal", double turn = 0) {
    if (s.empty()) return;
    // letters stand a third of their size below the middle; not every viewer centres them itself
    out_ += "<text x=\"" + num(x) + "\" y=\"" + num(y + 0.35 * size) + "\" font-size=\"" +
            num(size) + "\" text-anchor=\"" + anchor + "\" fill=\"" + fill + "\" font-weight=\"" +
            weight + "\"";
    if (turn != 0) out_ += " transform=\"rotate(" + num(turn) + " " + num(x) + " " + num(y) + ")\"";
    out_ += ">" + svg::escape(s) + "</text>\n";
  }
  /// A sign for what an axis does: cut, same, sum, place.
  void mark(double x, double y, const std::string& line) {
    const bool places = line.find(") has it at ") != std::string::npos;
    const bool cuts = line.find(") splits") != std::string::npos;
    const bool adds = line.find(") holds") != std::string::npos;
    rectangle(x, y - 8, 16, 16, cuts ? "#e3edf7" : "#f3f4f6", "#7b8794", 3);
    if (cuts)
      out_ += "<path d=\"M " + num(x + 8) + " " + num(y - 8) +
              " v 16\" stroke=\"#42505e\" stroke-width=\"1.5\"/>\n";
    else if (places)
      rectangle(x + 5, y - 3, 6, 6, "#42505e", "none", 3);
    else
      text(x + 8, y, adds ? "+" : "=", 13, "middle", "#42505e", "bold");
  }

  static double start(const drawn_dim& d, std::size_t b, double length) {
    if (d.extent == 0)
      return length * static_cast<double>(b) / static_cast<double>(d.blocks.size());
    return length * static_cast<double>(d.blocks[b].offset) / static_cast<double>(d.extent);
  }
  static double size(const drawn_dim& d, std::size_t b, double length) {
    if (d.extent == 0) return length / static_cast<double>(d.blocks.size());
    return length * static_cast<double>(d.blocks[b].length) / static_cast<double>(d.extent);
  }
  static std::string dim_text(const drawn_dim& d) {
    return d.name + (d.over.empty() ? "" : ", over " + d.over);
  }

  void across_labels() {
    text(left_ + width_ / 2, top_ - 38, dim_text(p_.across), 13, "middle", "#1b2733", "bold");
    double free_from = 0;
    for (std::size_t j = 0; j < p_.across.blocks.size(); ++j) {
      const std::string range = block_text(p_.across.blocks[j]);
      const double x = left_ + start(p_.across, j, width_) + size(p_.across, j, width_) / 2;
      const double half = text_width(range, 11) / 2 + 3;
      if (p_.across.blocks[j].length == 0 || x - half < free_from) continue;
      text(x, top_ - 14, range, 11, "middle", "#5c6b7a");
      free_from = x + half;
    }
  }
  void down_labels() {
    text(20, top_ + height_ / 2, dim_text(p_.down), 13, "middle", "#1b2733", "bold", -90);
    double free_from = 0;
    for (std::size_t i = 0; i < p_.down.blocks.size(); ++i) {
      const double y = top_ + start(p_.down, i, height_) + size(p_.down, i, height_) / 2;
      if (p_.down.blocks[i].length == 0 || y - 7 < free_from) continue;
      text(left_ - 10, y, block_text(p_.down.blocks[i]), 11, "end", "#5c6b7a");
      free_from = y + 7;
    }
  }
  void cell(std::size_t i, std::size_t j) {
    const auto& ranks = p_.cell(i, j);
    const double x = left_ + start(p_.across, j, width_), y = top_ + start(p_.down, i, height_);
    const double w = size(p_.across, j, width_), h = size(p_.down, i, height_);
    if (w <= 0 || h <= 0 || ranks.empty()) return;
    const bool one = ranks.size() == 1;
    rectangle(x, y, w, h, one ? colour(ranks[0]) : "#f6f8fa", "#42505e", 0, 1);
    if (!one) return chips(ranks, x, y, w, h);
    const std::string label =
        w > 70 ? "rank " + std::to_string(ranks[0]) : std::to_string(ranks[0]);
    if (w > text_width(label, 13) + 4 && h > 15)
      text(x + w / 2, y + h / 2, label, 13, "middle", "#1b2733");
  }
  void chips(const std::vector<index_t>& ranks, double x, double y, double w, double h) {
    const double step = 46, chip_w = 28, chip_h = 22;
    const auto a_line = static_cast<std::size_t>(std::max(0.0, (w - 12 + step - chip_w) / step));
    const double line = a_line == 1 ? 38 : 30;
    const auto lines = static_cast<std::size_t>(std::max(0.0, (h - 8 + line - chip_h) / line));
    if (a_line == 0 || lines == 0) return rectangle(x, y, w, h, colour(ranks[0]), "#42505e", 0, 1);
    const bool all = ranks.size() <= a_line * lines;
    const std::size_t shown = all ? ranks.size() : a_line * lines;
    const std::size_t across = std::min(a_line, shown), rows = (shown + across - 1) / across;
    const double x0 = x + w / 2 - (static_cast<double>(across) * step - step + chip_w) / 2;
    const double y0 = y + h / 2 - (static_cast<double>(rows) * line - line + chip_h) / 2;
    for (std::size_t k = 0; k < shown; ++k) {
      const double cx = x0 + static_cast<double>(k % across) * step,
                   cy = y0 + static_cast<double>(k / across) * line;
      const bool dots = !all && k + 1 == shown;
      if (dots) {
        text(cx + chip_w / 2, cy + chip_h / 2, "...", 13, "middle", "#1b2733", "bold");
        continue;
      }
      rectangle(cx, cy, chip_w, chip_h, colour(ranks[k]), "#7b8794", 5);
      text(cx + chip_w / 2, cy + chip_h / 2, std::to_string(ranks[k]), 12, "middle", "#1b2733");
      if (k + 1 < shown && across == 1)
        text(cx + chip_w / 2, cy + (line + chip_h) / 2, p_.joint, 12, "middle", "#42505e", "bold");
      else if (k + 1 < ranks.size() && (k + 1) % across != 0)
        text(cx + chip_w + (step - chip_w) / 2, cy + chip_h / 2, p_.joint, 13, "middle", "#42505e",
             "bold");
    }
  }

  const picture& p_;
  std::string title_, out_;
  double left_ = 0, width_ = 400, height_ = 320;
};

inline std::string svg_picture(const picture& p, const std::string& title) {
  return svg_box(p, title).draw();
}

}  // namespace dimesh::detail

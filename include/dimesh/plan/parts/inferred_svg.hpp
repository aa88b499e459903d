// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does what annotations imply look in a browser? The table of inferred_text.hpp as a picture: a
// tensor is a row of boxes, a dim each, in the colours of the axes that split it, and cut as often.
//
//   inferred_svg<L, network<any>, X>(report)   -> "<svg ...>...</svg>"
#pragma once

#include "dimesh/plan/parts/inferred_text.hpp"
#include "dimesh/show/svg.hpp"

namespace dimesh::detail {

class inferred_picture {
 public:
  /// Names are at most so long.
  inferred_picture(const std::string& title, std::size_t longest)
      : left_(std::max(220.0, 36 + letter * static_cast<double>(longest))) {
    write(20, 30, title, "font-size=\"15\" font-weight=\"600\"");
    y_ = 46;
  }
  /// A line of text beside a square in the colour of an axis, or none (-1).
  void note(const std::string& left, const std::string& right, int axis) {
    if (axis >= 0) box(20, y_ + 4, 14, 14, axis);
    write(42, y_ + 16, left);
    write(std::max(left_, 60 + letter * static_cast<double>(left.size())), y_ + 16, right, grey);
    y_ += 24;
  }
  /// A tensor, of which these are the dims.
  void tensor(const std::string& name, const layout_facts& f) {
    write(20, y_ + 26, name);
    double x = left_;
    for (int d = 0; d < static_cast<int>(f.dims.size()); ++d) x += dim(x, f, d) + 6;
    if (f.dims.empty()) write(x, y_ + 26, "one number", grey);
    y_ += 48;
  }
  std::string draw() const {
    const std::string size = svg::number(width_ + 24) + "\" height=\"" + svg::number(y_ + 16);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
           svg::number(width_ + 24) + " " + svg::number(y_ + 16) +
           "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" "
           "fill=\"#1f2933\">\n<rect width=\"" +
           size + "\" fill=\"#ffffff\"/>\n" + out_ + "</svg>\n";
  }

 private:
  static constexpr double height_ = 40, letter = 7.2;  // at most so wide
  static constexpr const char* grey = "fill=\"#52606d\"";

  void write(double x, double y, const std::string& words, const std::string& rest = "") {
    out_ += svg::text(x, y, words, rest);
    width_ = std::max(width_, x + letter * static_cast<double>(words.size()));
  }
  void box(double x, double y, double width, double height, int axis) {
    out_ += "<rect x=\"" + svg::number(x) + "\" y=\"" + svg::number(y) + "\" width=\"" +
            svg::number(width) + "\" height=\"" + svg::number(height) + "\" fill=\"" +
            svg::colour(static_cast<std::size_t>(axis)) + "\" fill-opacity=\"0.3\"/>\n";
  }
  /// The box of dim d: as wide as its words, in as many parts as there are ranks along its axes
  /// (two where only the run knows, eight at most). Returns its width.
  double dim(double x, const layout_facts& f, int d) {
    const auto at = static_cast<std::size_t>(d);
    const std::string name = size_text(f.dims[at], f.extent[at], "=");
    const std::string over = splitters_text(f, d) + (f.table.uneven[d] ? " uneven" : "");
    const double width = 16 + letter * static_cast<double>(std::max(name.size(), over.size() + 1));
    const int axes = f.table.split_count(d);
    index_t parts = 1;
    for (int level = 0, a = 0; (a = f.table.axis_at(d, level)) >= 0; ++level) {
      box(x, y_ + level * height_ / axes, width, height_ / axes, a);
      const index_t n = f.size[static_cast<std::size_t>(a)];
      parts = std::min<index_t>(parts * (n == dynamic ? 2 : n), 8);
    }
    for (index_t i = 1; i < parts; ++i) {
      const double cut = x + width * static_cast<double>(i) / static_cast<double>(parts);
      out_ += svg::line(cut, y_, cut, y_ + height_, "stroke=\"#ffffff\" stroke-width=\"2\"");
    }
    out_ += "<rect x=\"" + svg::number(x) + "\" y=\"" + svg::number(y_) + "\" width=\"" +
            svg::number(width) + "\" height=\"" + svg::number(height_) +
            "\" fill=\"none\" stroke=\"#7b8794\"/>\n";
    write(x + 8, y_ + (axes > 0 ? 17 : 26), name);
    if (axes > 0) write(x + 8, y_ + 33, "/" + over, grey);
    return width;
  }

  std::string out_;
  double left_, y_ = 0, width_ = 0;
};

/// The picture: of layout L, and arguments X...
template <class L, class... X> std::string inferred_svg(const auto& r) {
  std::size_t longest = 0;
  const auto measure_name = [&longest](const auto& name, const auto&) {
    longest = std::max(longest, name.size());
  };
  int n = 0;
  (for_each_laid_out<L, X>(++n, measure_name), ...);
  inferred_picture p(layout_line(L{}), longest);
  for_each_rule(r, L{}, [&](const auto& rule, const auto& by, const layout_rule& said) {
    p.note(rule, by, static_cast<int>(said.axis[0]));
  });
  n = 0;
  (for_each_laid_out<L, X>(++n, [&](const auto& name, const auto& f) { p.tensor(name, f); }), ...);
  for_each_move<typename L::mesh>(r,
                                  [&](const auto& by, const auto& what) { p.note(by, what, -1); });
  return p.draw();
}

}  // namespace dimesh::detail

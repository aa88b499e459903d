// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a run shown to somebody who has only a browser? As one HTML file with everything in it: a
// plot for each group of figures (those before a '/' in their names share one), tables, texts and
// pictures.
//
//   html_report page("Language model, data x model");
//   page.add(log);                                   // all figures of `summaries`
//   page.text("Sample", words);   page.svg("Schedule", picture);
//   page.write("runs/7/report.html");
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "dimesh/show/escape.hpp"
#include "dimesh/show/svg.hpp"
#include "dimesh/train/summaries.hpp"

namespace dimesh {

namespace detail {
/// RFC 4648, section 4.
inline std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digits[word >> (18 - 6 * k) & 63u] : '=';
  }
  return text;
}
}  // namespace detail

class html_report {
 public:
  explicit html_report(std::string title) : title_(std::move(title)) {}

  /// Plots of all figures.
  void add(const metric_history& figures) {
    std::vector<std::string> groups;
    for (const auto& s : figures.series()) {
      const std::string group = group_of(s.tag);
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
    for (const std::string& group : groups) {
      line_plot plot{.title = group, .x_label = "step"};
      for (const auto& s : figures.series())
        if (group_of(s.tag) == group) plot.series.push_back({s.tag, s.step, s.value, 2});
      svg(group, plot.svg());
    }
  }
  /// Plots of all figures, and the last text and the last image of each name.
  void add(const summaries& log) { add(log, log.scalars()); }
  /// The same with these figures in place of its own.
  void add(const summaries& log, const metric_history& figures) {
    add(figures);
    const auto texts = log.texts();
    for (auto t = texts.begin(); t != texts.end(); ++t)
      if (std::none_of(t + 1, texts.end(), [&](const auto& u) { return u.tag == t->tag; }))
        text(t->tag + ", step " + std::to_string(t->step), t->words);
    for (const auto& i : log.images()) png(i.tag + ", step " + std::to_string(i.step), i.png);
  }
  /// The bytes of a PNG file (train/png.hpp), enlarged where it is small.
  void png(const std::string& heading, std::string_view file) {
    begin(heading);
    body_ += "<img alt=\"" + detail::svg::escape(heading) + "\" src=\"data:image/png;base64," +
             detail::base64(file) + "\">\n";
  }
  /// A picture as it is: <svg ...>...</svg>.
  void svg(const std::string& heading, const std::string& picture) {
    begin(heading);
    const auto at = picture.find("<svg");  // what stands before it belongs to a file of its own
    body_ += "<div>" + (at == std::string::npos ? picture : picture.substr(at)) + "</div>\n";
  }
  /// Words as they are, line by line.
  void text(const std::string& heading, const std::string& words) {
    begin(heading);
    body_ += "<pre>" + detail::svg::escape(words) + "</pre>\n";
  }
  /// Rows of cells; the first row is the heading.
  void table(const std::string& heading, const std::vector<std::vector<std::string>>& rows) {
    begin(heading);
    body_ += "<table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::string cell = r == 0 ? "th" : "td";
      body_ += "<tr>";
      for (const auto& c : rows[r])
        body_ += "<" + cell + ">" + detail::svg::escape(c) + "</" + cell + ">";
      body_ += "</tr>\n";
    }
    body_ += "</table>\n";
  }
  std::string html() const {
    return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
           detail::svg::escape(title_) +
           "</title>\n<style>body{font-family:sans-serif;max-width:60em;margin:2em auto}"
           "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2em .6em;"
           "text-align:right}pre{background:#f4f4f4;padding:1em;overflow:auto;"
           "white-space:pre-wrap}img{min-width:12em;image-rendering:pixelated}</style></"
           "head>\n<body><h1>" +
           detail::svg::escape(title_) + "</h1>\n" + body_ + "</body></html>\n";
  }
  /// Throws dimesh::error if the file cannot be written.
  void write(const std::string& path) const {
    std::ofstream out(path);
    if (!(out << html() << std::flush))
      throw error("html_report: '" + path + "' cannot be written");
  }

 private:
  static std::string group_of(const std::string& tag) { return tag.substr(0, tag.find('/')); }
  void begin(const std::string& heading) {
    body_ += "<h2>" + detail::svg::escape(heading) + "</h2>\n";
  }
  std::string title_, body_;
};

}  // namespace dimesh

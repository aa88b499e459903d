// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a layout look in a terminal? As a box of cells with the ranks that hold them, the dims
// along its edges, and a line for each mesh axis.
//
//                 hidden = 6, over cols
//                 0..2    3..5
//   batch = 8  ┌────────┬────────┐
//   over rows  │        │        │
//   0..3       │ rank 0 │ rank 1 │
#pragma once

#include <algorithm>

#include "dimesh/show/picture.hpp"

namespace dimesh::detail {

/// Which of n cells to show: all, or the first ones and the last with a gap (-1) between.
inline std::vector<index_t> shown_cells(std::size_t n, std::size_t room) {
  std::vector<index_t> at;
  for (std::size_t i = 0; i < n; ++i) {
    if (n <= room || i + 2 < room || i + 1 == n)
      at.push_back(static_cast<index_t>(i));
    else if (at.back() >= 0)
      at.push_back(-1);
  }
  return at;
}

inline std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}
inline std::string centred(const std::string& text, std::size_t width) {
  if (text.size() > width) return centred("...", width);  // no part of a number
  return padded(std::string((width - text.size()) / 2, ' ') + text, width);
}
inline std::string trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

class text_box {
 public:
  explicit text_box(const picture& p) : p_(p) {
    labels_ = {p.down.name, p.down.over.empty() ? "" : "over " + p.down.over};
    for (const std::string& l : labels_) margin_ = std::max(margin_, l.size());
    if (p.down.dim >= 0)
      for (const block& b : p.down.blocks) margin_ = std::max(margin_, block_text(b).size());
    margin_ = std::min<std::size_t>(margin_, 30) + 2;
    std::size_t wanted = 8, range = 0;
    for (const auto& ranks : p.holders) wanted = std::max(wanted, ranks_text(ranks, 40).size() + 2);
    for (const block& b : p.across.blocks) range = std::max(range, block_text(b).size());
    wanted = std::max(wanted, range + 2);
    const std::size_t columns = p.across.blocks.size(), room = columns_in_line - margin_ - 1;
    const std::size_t each = std::max<std::size_t>(room / columns, 10) - 1;
    const std::size_t most = room / std::min<std::size_t>(columns, 3) - 1;  // first, gap and last
    width_ = std::max({std::size_t{9}, std::min(wanted, each), std::min(range, most)});
    if (columns == 1) width_ = std::max<std::size_t>(width_, 18);
    across_ = shown_cells(columns, room / (width_ + 1));
    down_ = shown_cells(p.down.blocks.size(), 12);
  }

  std::string draw() const {
    std::string out = header();
    std::size_t label = 0;
    for (std::size_t i = 0; i < down_.size(); ++i) {
      out += margin(take_label(label)) +
             rule(i == 0 ? "┌" : "├", i == 0 ? "┬" : "┼", i == 0 ? "┐" : "┤") + "\n";
      if (down_[i] < 0) {
        out += margin("...") + row([&](index_t) { return std::string("..."); }) + "\n";
        continue;
      }
      const auto at = static_cast<std::size_t>(down_[i]);
      if (i == 0 && !labels_[1].empty())
        out += margin(take_label(label)) + row([](index_t) { return std::string(); }) + "\n";
      const std::string range = p_.down.dim < 0 ? "" : block_text(p_.down.blocks[at]);
      out += margin(range) + row([&](index_t j) {
               return ranks_text(p_.cell(at, static_cast<std::size_t>(j)), width_ - 2);
             }) +
             "\n";
    }
    out += margin("") + rule("└", "┴", "┘") + "\n";
    for (const std::string& line : p_.axis_lines) out += margin("") + line + "\n";
    if (!p_.rest.empty()) out += margin("") + p_.rest + "\n";
    return out;
  }

 private:
  static constexpr std::size_t columns_in_line = 80;

  std::string take_label(std::size_t& next) const {
    return next < labels_.size() ? labels_[next++] : "";
  }
  std::string margin(const std::string& text) const {
    return padded(text.size() < margin_ ? text : text.substr(0, margin_ - 4) + "...", margin_);
  }
  std::string header() const {
    if (p_.across.dim < 0) return "";
    std::string ranges = margin("") + " ";
    for (const index_t j : across_)
      ranges += centred(j < 0 ? "..." : block_text(p_.across.blocks[static_cast<std::size_t>(j)]),
                        width_) +
                " ";
    const std::string over = p_.across.over.empty() ? "" : ", over " + p_.across.over;
    return trimmed(margin("") + " " + p_.across.name + over) + trimmed(ranges);
  }
  std::string rule(const char* left, const char* middle, const char* right) const {
    std::string line = left;
    for (std::size_t j = 0; j < across_.size(); ++j) {
      for (std::size_t k = 0; k < width_; ++k) line += "─";
      line += j + 1 < across_.size() ? middle : right;
    }
    return line;
  }
  template <class Text> std::string row(const Text& text) const {
    std::string line = "│";
    for (const index_t j : across_) line += centred(j < 0 ? "..." : text(j), width_) + "│";
    return line;
  }

  const picture& p_;
  std::vector<std::string> labels_;
  std::size_t margin_ = 0, width_ = 8;
  std::vector<index_t> across_, down_;
};

inline std::string text_picture(const picture& p) { return text_box(p).draw(); }

}  // namespace dimesh::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do results become a table for the terminal? Cells are text; numbers stand to the right.
//
//   text_table t{.headings = {{"layout", "loss"}}, .left = {0}};
//   t.rows.push_back({"batch", "2.31"});
//   std::cout << t.str();
//   grouped(1234567) -> "1,234,567"      memory(123456) -> "120.6 KiB"
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace report {

inline std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

/// 1234567 -> "1,234,567"
inline std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (int i = static_cast<int>(digits.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3)
    digits.insert(static_cast<std::size_t>(i), ",");
  return digits;
}

inline std::string memory(std::int64_t bytes) {
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1) return std::to_string(bytes) + " B";
  if (kib < 1024) return format("%.1f KiB", kib);
  return kib < 1024 * 1024 ? format("%.1f MiB", kib / 1024) : format("%.1f GiB", kib / 1024 / 1024);
}

/// Rows of equally many cells below some rows of headings.
struct text_table {
  using row = std::vector<std::string>;
  std::vector<row> headings = {}, rows = {};
  std::vector<std::size_t> left = {};  ///< columns whose cells stand to the left

  /// Columns two spaces apart, or one where the lines would be longer than 120.
  std::string str() const {
    std::vector<std::size_t> width(headings.front().size(), 0);
    std::vector<row> all = headings;
    all.insert(all.end(), rows.begin(), rows.end());
    for (const row& r : all)
      for (std::size_t c = 0; c < width.size(); ++c) width[c] = std::max(width[c], r[c].size());
    std::size_t across = 0;
    for (const std::size_t w : width) across += w;
    const std::size_t gap = across + 2 * (width.size() - 1) <= 120 ? 2 : 1;
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == headings.size()) text += std::string(across + gap * (width.size() - 1), '-') + "\n";
      std::string line;
      for (std::size_t c = 0; c < width.size(); ++c) {
        const std::string space(width[c] - all[i][c].size(), ' ');
        const bool to_left = std::find(left.begin(), left.end(), c) != left.end();
        line += (to_left ? all[i][c] + space : space + all[i][c]) + std::string(gap, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }
};

/// For a terminal: control characters other than line ends become question marks.
inline std::string readable(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) c = '?';
  return text;
}

}  // namespace report

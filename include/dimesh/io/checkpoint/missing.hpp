// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of a tensor that the files lack? Which names are near: those for which fewest
// letters must be changed.
//
//   near_names("modle.w", {"adam.first.w", "model.b", "model.w"})  -> "'model.w', 'model.b'"
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dimesh::detail::checkpoint {

/// How many letters must be added, dropped or changed (Levenshtein 1966).
inline std::size_t letters_between(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i);
    for (std::size_t j = 1; j < row.size(); ++j)
      before = std::exchange(
          row[j], std::min({row[j] + 1, row[j - 1] + 1, before + (a[i - 1] == b[j - 1] ? 0 : 1)}));
  }
  return row[b.size()];
}
/// The nearest two of some names, quoted; "none" where there are none.
inline std::string near_names(const std::string& name, const std::vector<std::string>& all) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& one : all) found.emplace_back(letters_between(name, one), one);
  std::sort(found.begin(), found.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, found.size()); ++i)
    text += (i > 0 ? ", '" : "'") + found[i].second + "'";
  return text.empty() ? "none" : text;
}

/// As the files would call it, and of which part of the program.
struct missing_tensor {
  std::string name, part;
};
/// is_all: they lack all others of its part, too.
inline std::string missing_text(const missing_tensor& x, bool is_all,
                                const std::vector<std::string>& names) {
  std::string text = "the files have none of this name";
  if (is_all && !x.part.empty()) text += ", and nothing of part '" + x.part + "'";
  return text + "; near it: " + near_names(x.name, names);
}

}  // namespace dimesh::detail::checkpoint

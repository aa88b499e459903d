// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is there to draw of a layout? Two dims at most, cut into cells, and for every cell the ranks
// that hold it. Texts and pictures are two ways to show this.
//
//   picture(facts of batch=8/rows:2, hidden=6/cols:2).cell(1, 0).ranks  -> {2}
#pragma once

#include "dimesh/reflect/describe.hpp"

namespace dimesh::detail {

/// One drawn dim and the blocks it is cut into.
struct drawn_dim {
  int dim = -1;  // place among the tensor's dims; -1: nothing is drawn along here
  std::string name;  // "batch = 256"
  std::string over;  // "rows", or "rows, cols": what cuts it
  std::vector<block> blocks;  // at least one
  index_t extent = 1;
};

struct picture {
  drawn_dim down, across;
  index_t ranks = 1;
  std::vector<std::vector<index_t>> holders;  // of each cell, row by row: ranks in order
  std::vector<std::string> axis_lines;  // what each axis does
  /// What stands between the ranks of a cell: "=" where they hold the same, "+" where they hold
  /// addends; nothing where both is so, or where a dim that is not drawn is cut between them.
  std::string joint;
  std::string rest;  // on dims that are not drawn

  const std::vector<index_t>& cell(std::size_t i, std::size_t j) const {
    return holders[i * across.blocks.size() + j];
  }

  explicit picture(const layout_facts& f) {
    int chosen[2];
    choose(f, chosen);
    down = drawn(f, chosen[0]);
    across = drawn(f, chosen[1]);
    for (const index_t n : f.size) ranks *= n;
    holders.resize(down.blocks.size() * across.blocks.size());
    for (index_t r = 0; r < ranks; ++r) {
      index_t coords[max_axes] = {}, at = r;
      for (std::size_t a = f.axes.size(); a-- > 0; at /= f.size[a]) coords[a] = at % f.size[a];
      if (f.table.away_from(coords) != 0) continue;
      holders[place(f, down, coords) * across.blocks.size() + place(f, across, coords)].push_back(
          r);
    }
    for (std::size_t a = 0; a < f.axes.size(); ++a) axis_lines.push_back(axis_line(f, a));
    joint = joint_of(f, chosen);
    note_rest(f, chosen);
  }

 private:
  /// Split dims first; a single dim lies across.
  static void choose(const layout_facts& f, int (&chosen)[2]) {
    std::vector<int> order;
    const int rank = static_cast<int>(f.dims.size());
    for (const bool split : {true, false})
      for (int d = 0; d < rank; ++d)
        if ((f.table.split_count(d) > 0) == split) order.push_back(d);
    chosen[0] = order.size() < 2 ? -1 : order[0];
    chosen[1] = order.empty() ? -1 : order[order.size() < 2 ? 0 : 1];
    if (chosen[0] > chosen[1]) std::swap(chosen[0], chosen[1]);
  }
  static drawn_dim drawn(const layout_facts& f, int d) {
    drawn_dim out;
    if (d < 0) {
      out.blocks.push_back({0, 1});
      return out;
    }
    out.dim = d;
    out.extent = f.extent[static_cast<std::size_t>(d)];
    out.name = f.dims[static_cast<std::size_t>(d)] + " = " + std::to_string(out.extent);
    for (int level = 0, a = 0; (a = f.table.axis_at(d, level)) >= 0; ++level)
      out.over += (level > 0 ? ", " : "") + f.axes[static_cast<std::size_t>(a)];
    const index_t count = ranks_over(f.table, d, f.size.data());
    for (index_t b = 0; b < count; ++b) {
      index_t coords[max_axes] = {}, at = b;
      for (int level = f.table.split_count(d) - 1; level >= 0; --level) {
        const int a = f.table.axis_at(d, level);
        coords[a] = at % f.size[static_cast<std::size_t>(a)];
        at /= f.size[static_cast<std::size_t>(a)];
      }
      const auto& cuts = f.cuts[static_cast<std::size_t>(d)];
      if (!cuts.empty()) {
        const index_t from = cuts[static_cast<std::size_t>(b)];
        out.blocks.push_back({from, cuts[static_cast<std::size_t>(b + 1)] - from});
        continue;
      }
      out.blocks.push_back(block_at(f.table, d, out.extent, f.size.data(), coords));
    }
    return out;
  }
  static std::size_t place(const layout_facts& f, const drawn_dim& dim, const index_t* coords) {
    index_t b = 0;
    for (int level = 0, a = 0; dim.dim >= 0 && (a = f.table.axis_at(dim.dim, level)) >= 0; ++level)
      b = b * f.size[static_cast<std::size_t>(a)] + coords[a];
    return static_cast<std::size_t>(b);
  }
  static std::string axis_line(const layout_facts& f, std::size_t a) {
    const std::string name = f.axes[a] + " (" + std::to_string(f.size[a]) + ") ";
    switch (f.table.axis[a].what) {
      case use::split:
        return name + "splits " + f.dims[static_cast<std::size_t>(f.table.axis[a].dim)];
      case use::partial:
        return name + "holds addends";
      case use::partial_max:
        return name + "holds candidates for the maximum";
      case use::partial_min:
        return name + "holds candidates for the minimum";
      case use::placed:
        return name + "has it at " + std::to_string(f.table.axis[a].at) + " alone";
      default:
        return name + "replicates";
    }
  }
  static std::string joint_of(const layout_facts& f, const int (&chosen)[2]) {
    bool same = false, addends = false, parts = false;
    for (int a = 0; a < f.table.axes; ++a) {
      const axis_use u = f.table.axis[a];
      if (f.size[static_cast<std::size_t>(a)] == 1) continue;
      same = same || u.what == use::replicated;
      addends = addends || f.table.is_partial(a);
      parts = parts || (u.what == use::split && u.dim != chosen[0] && u.dim != chosen[1]);
    }
    return parts || same == addends ? "" : addends ? "+" : "=";
  }
  void note_rest(const layout_facts& f, const int (&chosen)[2]) {
    for (int d = 0; d < static_cast<int>(f.dims.size()); ++d) {
      if (d == chosen[0] || d == chosen[1]) continue;
      const auto at = static_cast<std::size_t>(d);
      const std::string over = splitters_text(f, d);
      rest += (rest.empty() ? "" : ", ") + f.dims[at] + " = " + std::to_string(f.extent[at]) +
              (over.empty() ? "" : " over " + over);
    }
    if (!rest.empty()) rest = "not drawn: " + rest;
  }
};

/// "rank 3", "ranks 0-3", "ranks 0 2 4", in at most `width` characters.
inline std::string ranks_text(const std::vector<index_t>& ranks, std::size_t width) {
  if (ranks.empty()) return "";
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    std::string run = std::to_string(ranks[i]);
    if (j > i + 1) run.append("-").append(std::to_string(ranks[j]));
    if (j == i + 1) j = i;
    if (i > 0) text += ' ';
    text += run;
    i = j + 1;
  }
  const std::string word = ranks.size() == 1 ? "rank " : "ranks ";
  if (word.size() + text.size() <= width) return word + text;
  if (text.size() <= width) return text;
  if (width < 3) return std::string(width, '.');
  const auto end = text.find_last_of(" -", width - 2);  // never within a number
  return end == std::string::npos ? "..." : text.substr(0, end) + "..";
}

/// "0..127", "5" of a single element, or "empty".
inline std::string block_text(const block& b) {
  if (b.length == 0) return "empty";
  if (b.length == 1) return std::to_string(b.offset);
  return std::to_string(b.offset) + ".." + std::to_string(b.offset + b.length - 1);
}

}  // namespace dimesh::detail

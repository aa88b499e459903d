// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the examples know of a training run under a layout? The losses, and bytes per step,
// predicted and counted; compared with the first run, and printed. Kept as JSON and drawn by
// report.hpp. An example adds figures of its own, or derives its result from run_result.
//
//   std::vector<run_result> all = ...;          // the others are compared with the first
//   compare(all);                               // fills max_loss_difference
//   std::cout << table(all);
//   agrees(all[1], all[0].losses, 20, 2e-5)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text_table.hpp"

namespace report {

/// Bytes per step that one rank hands to MPI, by axis or set of axes ("rows", "rows+cols"), in the
/// order in which they shall be shown. An axis that carries nothing may be left out.
using bytes_by_axis = std::vector<std::pair<std::string, std::int64_t>>;

/// Where the table of runs has it: beside losses, memory or time.
enum class column { none, result, memory, speed };
/// What an example knows of a run beside that. JSON has it under its name; numbers that JSON could
/// not hold become null.
struct figure {
  std::string name;
  std::variant<double, std::int64_t, std::string> value;
  column where = column::none;
  std::string first_heading = {}, heading = {}, text = {};  ///< in the table
};

struct run_result {
  std::string layout = {};  ///< "batch x hidden"
  std::string mesh = {};  ///< "2x2"
  int ranks = 1;
  std::vector<double> losses = {};  ///< one per step
  bytes_by_axis bytes_predicted = {}, bytes_counted = {};
  std::int64_t parameters_per_rank = 0;
  std::int64_t peak_bytes_per_rank = 0;
  double seconds = 0;
  double steps_per_second = 0;
  bool told_to_end = false;  ///< before the last step
  double max_loss_difference = 0;  ///< from the first layout; see compare()
  std::vector<figure> figures = {};

  double final_loss() const {
    return losses.empty() ? std::numeric_limits<double>::quiet_NaN() : losses.back();
  }
};

inline std::int64_t total(const bytes_by_axis& bytes) {
  std::int64_t sum = 0;
  for (const auto& entry : bytes) sum += entry.second;
  return sum;
}

/// What an axis carries; nothing if it is not listed.
inline std::int64_t on(const bytes_by_axis& bytes, const std::string& axis) {
  for (const auto& entry : bytes)
    if (entry.first == axis) return entry.second;
  return 0;
}

/// The axes of both lists, each once, in the order of their appearance.
inline std::vector<std::string> axes_of(const run_result& r) {
  std::vector<std::string> names;
  for (const auto* bytes : {&r.bytes_predicted, &r.bytes_counted})
    for (const auto& entry : *bytes)
      if (std::find(names.begin(), names.end(), entry.first) == names.end())
        names.push_back(entry.first);
  return names;
}

inline bool bytes_agree(const run_result& r) {
  const auto names = axes_of(r);
  return std::all_of(names.begin(), names.end(), [&](const std::string& axis) {
    return on(r.bytes_predicted, axis) == on(r.bytes_counted, axis);
  });
}

/// The largest distance of two loss curves; infinite if they differ in length or are not numbers.
inline double loss_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    most = std::isfinite(d) ? std::max(most, d) : std::numeric_limits<double>::infinity();
  }
  return most;
}

/// The first n losses, or all.
inline std::vector<double> beginning(const std::vector<double>& losses, std::size_t n) {
  return {losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(std::min(n, losses.size()))};
}
/// How far runs are from the first one, over the steps that both made: patience may end one of them
/// before the other, where an evaluation is the best one by rounding alone.
template <class R> void compare(std::vector<R>& all) {
  const std::vector<double>& first = all.front().losses;
  for (auto& r : all)
    r.max_loss_difference =
        r.losses.empty() == first.empty()
            ? loss_difference(beginning(r.losses, first.size()), beginning(first, r.losses.size()))
            : std::numeric_limits<double>::infinity();
}

/// Does a run follow the losses of the first one, as far as both go, and move the bytes that its
/// types predict? Says so where it does not. Training amplifies rounding: the first `early` losses
/// must be equal to `near`, and the others stay close.
inline bool agrees(const run_result& r, const std::vector<double>& first, std::size_t early,
                   double near) {
  bool close = r.losses.empty() == first.empty();
  for (std::size_t t = 0; close && t < std::min(r.losses.size(), first.size()); ++t)
    close = std::abs(r.losses[t] - first[t]) <= (t < early ? near : 0.05);
  if (!close) std::cout << "FAILED: the losses of '" << r.layout << "' part from the first.\n";
  if (!bytes_agree(r))
    std::cout << "FAILED: '" << r.layout << "' moved other bytes than its types predict.\n";
  return close && bytes_agree(r);
}

/// The rows of one run in a table: `first` holds its results and goes with its first axis; each
/// axis has a row, its name in column `axis` and its bytes in the next. A '!' between predicted and
/// counted bytes marks a difference.
inline void add_rows(text_table& t, const run_result& r, const text_table::row& first,
                     std::size_t axis) {
  const auto names = axes_of(r);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, names.size()); ++i) {
    text_table::row line = i == 0 ? first : text_table::row(first.size());
    const std::string name = names.empty() ? "" : names[i];
    const std::int64_t said = on(r.bytes_predicted, name), done = on(r.bytes_counted, name);
    line[axis] = names.empty() ? "-" : name;
    line[axis + 1] = grouped(said) + (said == done ? " = " : " ! ") + grouped(done);
    t.rows.push_back(line);
  }
}

/// "3e-06", or "0": how a difference is printed.
inline std::string difference_text(double difference) {
  return difference == 0 ? "0" : format("%.0e", difference);
}

/// All runs, numbers to the right; each has the figures of the first one.
inline std::string table(const std::vector<run_result>& all) {
  text_table t{
      .headings = {{"", "", "", "final", "max"}, {"layout", "mesh", "ranks", "loss", "diff"}},
      .left = {0, 1}};
  const auto head = [&](const std::string& first, const std::string& second) {
    t.headings[0].push_back(first), t.headings[1].push_back(second);
  };
  const auto head_figures = [&](column where) {
    for (const figure& f : all.front().figures)
      if (f.where == where) head(f.first_heading, f.heading);
  };
  head_figures(column::result);
  head("parameters", "per rank");
  head_figures(column::memory);
  head("peak", "per rank");
  const std::size_t axis = t.headings[0].size();
  t.left.push_back(axis);
  head("", "axis"), head("bytes per step", "types = counted");
  head_figures(column::speed);
  head("", "time");
  for (const run_result& r : all) {
    text_table::row row{r.layout, r.mesh, std::to_string(r.ranks), format("%.4f", r.final_loss()),
                        difference_text(r.max_loss_difference)};
    const auto add_figures = [&](column where) {
      for (const figure& f : r.figures)
        if (f.where == where) row.push_back(f.text);
    };
    add_figures(column::result);
    row.push_back(grouped(r.parameters_per_rank));
    add_figures(column::memory);
    row.insert(row.end(), {memory(r.peak_bytes_per_rank), "", ""});
    add_figures(column::speed);
    row.push_back(format("%.1f s", r.seconds));
    add_rows(t, r, row, axis);
  }
  return t.str();
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the examples know of a training run under a layout? The losses, and bytes per step,
// predicted and counted; compared with the first run, and printed. Kept as JSON and drawn by
// report.hpp. An example derives its result from run_result and adds its own figures.
//
//   std::vector<layout_result> all = ...;       // the others are compared with the first
//   compare(all);                               // fills max_loss_difference
//   all_agree(all, 1e-4)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "text_table.hpp"

namespace report {

/// Bytes per step that one rank hands to MPI, by axis or set of axes ("rows", "rows+cols"), in the
/// order in which they shall be shown. An axis that carries nothing may be left out.
using bytes_by_axis = std::vector<std::pair<std::string, std::int64_t>>;

struct run_result {
  std::string layout = {};  ///< "batch x hidden"
  std::string mesh = {};  ///< "2x2"
  int ranks = 1;
  std::vector<double> losses = {};  ///< one per step
  bytes_by_axis bytes_predicted = {}, bytes_counted = {};
  std::int64_t parameters_per_rank = 0;
  std::int64_t peak_bytes_per_rank = 0;
  double seconds = 0;
  double max_loss_difference = 0;  ///< over all steps, from the first layout; see compare()

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

template <class R> void compare(std::vector<R>& all) {
  for (auto& r : all) r.max_loss_difference = loss_difference(r.losses, all.front().losses);
}

/// True if every layout follows the first one's losses within the tolerance, and moved exactly the
/// bytes that its types predict. This is what decides whether the program succeeds.
template <class R> bool all_agree(const std::vector<R>& all, double tolerance) {
  return std::all_of(all.begin(), all.end(), [&](const R& r) {
    return r.max_loss_difference <= tolerance && bytes_agree(r);
  });
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

}  // namespace report

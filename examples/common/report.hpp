// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the examples report of a training run under a layout? The losses, and bytes per step,
// predicted and counted; compared with the first run, printed, drawn, and kept as JSON. An example
// derives its result from run_result and adds its own figures:
//
//   struct layout_result : run_result { double test_accuracy = 0; };
//   void to_json(ordered_json& j, const layout_result& r);      // adds what run_result lacks
//   void from_json(const ordered_json& j, layout_result& r);
//
//   std::vector<layout_result> all = ...;       // the others are compared with the first
//   compare(all);                               // fills max_loss_difference
//   write_report(all, "demo-out");              // report.json, losses.svg, loss_differences.svg
//   read_report<layout_result>("demo-out/report.json")  -> the same, e.g. of an earlier program
#pragma once

#include <dimesh/error.hpp>
#include <dimesh/io/svg.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "text_table.hpp"

namespace report {

using nlohmann::ordered_json;

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

// --- files --------------------------------------------------------------------------------------

namespace detail {

inline ordered_json json_of(const bytes_by_axis& bytes) {
  ordered_json j = ordered_json::object();
  for (const auto& [axis, n] : bytes) j[axis] = n;
  j["total"] = total(bytes);
  return j;
}

inline bytes_by_axis bytes_from(const ordered_json& j) {
  bytes_by_axis bytes;
  for (const auto& [axis, n] : j.items())
    if (axis != "total") bytes.emplace_back(axis, n.get<std::int64_t>());
  return bytes;
}

}  // namespace detail

/// A number that JSON could not hold (an infinite difference, say) was written as null.
inline double number_from(const ordered_json& j) {
  return j.is_null() ? std::numeric_limits<double>::infinity() : j.get<double>();
}

inline void to_json(ordered_json& j, const run_result& r) {
  j = {{"layout", r.layout},
       {"mesh", r.mesh},
       {"ranks", r.ranks},
       {"losses", r.losses},
       {"bytes_predicted", detail::json_of(r.bytes_predicted)},
       {"bytes_counted", detail::json_of(r.bytes_counted)},
       {"parameters_per_rank", r.parameters_per_rank},
       {"peak_bytes_per_rank", r.peak_bytes_per_rank},
       {"max_loss_difference", r.max_loss_difference},
       {"seconds", r.seconds}};
}

inline void from_json(const ordered_json& j, run_result& r) {
  r.layout = j.at("layout"), r.mesh = j.at("mesh"), r.ranks = j.at("ranks");
  r.losses.clear();
  for (const auto& loss : j.at("losses")) r.losses.push_back(number_from(loss));
  r.bytes_predicted = detail::bytes_from(j.at("bytes_predicted"));
  r.bytes_counted = detail::bytes_from(j.at("bytes_counted"));
  r.parameters_per_rank = j.at("parameters_per_rank");
  r.peak_bytes_per_rank = j.at("peak_bytes_per_rank");
  r.max_loss_difference = number_from(j.at("max_loss_difference"));
  r.seconds = number_from(j.at("seconds"));
}

template <class R> std::vector<R> read_report(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw dimesh::error("read_report: '" + path + "' cannot be opened");
  try {
    return ordered_json::parse(in).get<std::vector<R>>();
  } catch (const nlohmann::json::exception& e) {
    throw dimesh::error("read_report: '" + path + "' is not a report: " + e.what());
  }
}

/// Curves of the losses; they coincide up to rounding, hence the stripes.
template <class R> dimesh::line_plot loss_plot(const std::vector<R>& all) {
  dimesh::line_plot plot{.title = "Training loss, " + std::to_string(all.size()) + " layouts",
                         .x_label = "step",
                         .y_label = "cross-entropy",
                         .striped = true};
  for (const auto& r : all) {
    plot.series.push_back({r.layout, {}, r.losses, 3});
    for (std::size_t i = 0; i < r.losses.size(); ++i)
      plot.series.back().x.push_back(static_cast<double>(i + 1));
  }
  return plot;
}

/// How far each layout's losses are from the first one's.
template <class R> dimesh::line_plot difference_plot(const std::vector<R>& all) {
  dimesh::line_plot plot{.title = "Distance from the losses of '" +
                                  (all.empty() ? std::string() : all.front().layout) + "'",
                         .x_label = "step",
                         .y_label = "absolute difference",
                         .log_y = true};
  for (std::size_t k = 1; k < all.size(); ++k) {
    dimesh::plot_series s{.name = all[k].layout, .width = 1.5};
    for (std::size_t i = 0; i < std::min(all[k].losses.size(), all[0].losses.size()); ++i) {
      s.x.push_back(static_cast<double>(i + 1));
      s.y.push_back(std::abs(all[k].losses[i] - all[0].losses[i]));
    }
    plot.series.push_back(s);
  }
  return plot;
}

/// Makes the folder if need be. Bytes that are no UTF-8 become replacement characters.
template <class R> void write_report(const std::vector<R>& all, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::ofstream out(folder + "/report.json");
  constexpr auto replace = ordered_json::error_handler_t::replace;
  if (!(out << ordered_json(all).dump(1, ' ', false, replace) << std::endl))
    throw dimesh::error("write_report: '" + folder + "/report.json' cannot be written");
  loss_plot(all).write(folder + "/losses.svg");
  difference_plot(all).write(folder + "/loss_differences.svg");
}

}  // namespace report

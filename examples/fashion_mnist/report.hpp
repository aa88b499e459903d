// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the reader get to see of the runs? One layout_result per layout becomes a table for the
// terminal, report.json, and two pictures: the losses, and how far they are from the first one's.
//
//   std::vector<layout_result> all = ...;       // the others are compared with the first
//   compare(all);                               // fills max_loss_difference
//   std::cout << table(all);
//   write_report(all, "demo-out");              // report.json, losses.svg, loss_differences.svg
//   read_report("demo-out/report.json")         -> the same results, e.g. of an earlier program
#pragma once

#include <dimesh/error.hpp>
#include <dimesh/io/svg.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace report {

/// Bytes per step that one rank hands to MPI, by axis or set of axes ("rows", "rows+cols"), in the
/// order in which they shall be shown. An axis that carries nothing may be left out.
using bytes_by_axis = std::vector<std::pair<std::string, std::int64_t>>;

struct layout_result {
  std::string layout = {};  ///< "batch x hidden"
  std::string mesh = {};  ///< "2x2"
  int ranks = 1;
  std::vector<double> losses = {};  ///< one per step
  double test_accuracy = 0;  ///< in [0, 1]
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
inline std::vector<std::string> axes_of(const layout_result& r) {
  std::vector<std::string> names;
  for (const auto* bytes : {&r.bytes_predicted, &r.bytes_counted})
    for (const auto& entry : *bytes)
      if (std::find(names.begin(), names.end(), entry.first) == names.end())
        names.push_back(entry.first);
  return names;
}

inline bool bytes_agree(const layout_result& r) {
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

inline void compare(std::vector<layout_result>& all) {
  for (auto& r : all) r.max_loss_difference = loss_difference(r.losses, all.front().losses);
}

/// True if every layout follows the first one's losses within the tolerance, and moved exactly the
/// bytes that its types predict. This is what decides whether the program succeeds.
inline bool all_agree(const std::vector<layout_result>& all, double tolerance) {
  return std::all_of(all.begin(), all.end(), [&](const layout_result& r) {
    return r.max_loss_difference <= tolerance && bytes_agree(r);
  });
}

// --- text ---------------------------------------------------------------------------------------

namespace detail {

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

constexpr std::size_t columns = 11;
using row = std::array<std::string, columns>;

/// The rows of one layout: the first holds its results, each holds one axis' bytes.
inline void add_rows(std::vector<row>& rows, const layout_result& r) {
  const std::string difference =
      r.max_loss_difference == 0 ? "0" : format("%.0e", r.max_loss_difference);
  row first{r.layout,
            r.mesh,
            std::to_string(r.ranks),
            format("%.4f", r.final_loss()),
            difference,
            format("%.4f", r.test_accuracy),
            grouped(r.parameters_per_rank),
            memory(r.peak_bytes_per_rank),
            "-",
            "0 = 0",
            format("%.1f s", r.seconds)};
  const auto names = axes_of(r);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, names.size()); ++i) {
    row line = i == 0 ? first : row{};
    if (i < names.size()) {
      const std::int64_t said = on(r.bytes_predicted, names[i]),
                         done = on(r.bytes_counted, names[i]);
      line[8] = names[i];
      line[9] = grouped(said) + (said == done ? " = " : " ! ") + grouped(done);
    }
    rows.push_back(line);
  }
}

}  // namespace detail

/// Aligned with spaces, numbers to the right; 120 columns suffice for meshes of three axes. A '!'
/// between predicted and counted bytes marks a difference.
inline std::string table(const std::vector<layout_result>& all) {
  using namespace detail;
  std::vector<row> rows = {
      {"", "", "", "final", "max", "test", "parameters", "peak", "", "bytes per step", ""},
      {"layout", "mesh", "ranks", "loss", "diff", "acc.", "per rank", "per rank", "axis",
       "types = counted", "time"}};
  const std::size_t head = rows.size();
  for (const auto& r : all) add_rows(rows, r);
  std::array<std::size_t, columns> width{};
  for (const auto& r : rows)
    for (std::size_t c = 0; c < columns; ++c) width[c] = std::max(width[c], r[c].size());
  std::size_t across = 0;
  for (const std::size_t w : width) across += w;
  const std::size_t gap = across + 2 * (columns - 1) <= 120 ? 2 : 1;
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string space(width[c] - rows[i][c].size(), ' ');
      const bool left = c <= 1 || c == 8;
      line += (left ? rows[i][c] + space : space + rows[i][c]) + std::string(gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (i + 1 == head) text += std::string(across + gap * (columns - 1), '-') + "\n";
  }
  return text;
}

// --- files --------------------------------------------------------------------------------------

namespace detail {

inline nlohmann::ordered_json json_of(const bytes_by_axis& bytes) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  for (const auto& [axis, n] : bytes) j[axis] = n;
  j["total"] = total(bytes);
  return j;
}

inline bytes_by_axis bytes_from(const nlohmann::ordered_json& j) {
  bytes_by_axis bytes;
  for (const auto& [axis, n] : j.items())
    if (axis != "total") bytes.emplace_back(axis, n.get<std::int64_t>());
  return bytes;
}

}  // namespace detail

inline nlohmann::ordered_json to_json(const layout_result& r) {
  return {{"layout", r.layout},
          {"mesh", r.mesh},
          {"ranks", r.ranks},
          {"losses", r.losses},
          {"test_accuracy", r.test_accuracy},
          {"bytes_predicted", detail::json_of(r.bytes_predicted)},
          {"bytes_counted", detail::json_of(r.bytes_counted)},
          {"parameters_per_rank", r.parameters_per_rank},
          {"peak_bytes_per_rank", r.peak_bytes_per_rank},
          {"max_loss_difference", r.max_loss_difference},
          {"seconds", r.seconds}};
}

/// A number that JSON could not hold (an infinite difference, say) was written as null.
inline layout_result from_json(const nlohmann::ordered_json& j) {
  const auto number = [](const nlohmann::ordered_json& v) {
    return v.is_null() ? std::numeric_limits<double>::infinity() : v.get<double>();
  };
  layout_result r;
  r.layout = j.at("layout"), r.mesh = j.at("mesh"), r.ranks = j.at("ranks");
  for (const auto& loss : j.at("losses")) r.losses.push_back(number(loss));
  r.test_accuracy = number(j.at("test_accuracy"));
  r.bytes_predicted = detail::bytes_from(j.at("bytes_predicted"));
  r.bytes_counted = detail::bytes_from(j.at("bytes_counted"));
  r.parameters_per_rank = j.at("parameters_per_rank");
  r.peak_bytes_per_rank = j.at("peak_bytes_per_rank");
  r.max_loss_difference = number(j.at("max_loss_difference"));
  r.seconds = number(j.at("seconds"));
  return r;
}

inline std::vector<layout_result> read_report(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw dimesh::error("read_report: '" + path + "' cannot be opened");
  std::vector<layout_result> all;
  try {
    for (const auto& j : nlohmann::ordered_json::parse(in)) all.push_back(from_json(j));
  } catch (const nlohmann::json::exception& e) {
    throw dimesh::error("read_report: '" + path + "' is not a report: " + e.what());
  }
  return all;
}

/// Curves of the losses; they coincide up to rounding, hence the stripes.
inline dimesh::line_plot loss_plot(const std::vector<layout_result>& all) {
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
inline dimesh::line_plot difference_plot(const std::vector<layout_result>& all) {
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

/// Makes the folder if need be.
inline void write_report(const std::vector<layout_result>& all, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& r : all) list.push_back(to_json(r));
  std::ofstream out(folder + "/report.json");
  if (!(out << list.dump(1) << std::endl))
    throw dimesh::error("write_report: '" + folder + "/report.json' cannot be written");
  loss_plot(all).write(folder + "/losses.svg");
  difference_plot(all).write(folder + "/loss_differences.svg");
}

}  // namespace report

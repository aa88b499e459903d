// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the results of an example reach people and programs? As JSON and pictures.
//
//   void to_json(ordered_json& j, const layout_result& r);      // adds what run_result lacks
//   void from_json(const ordered_json& j, layout_result& r);
//
//   write_report(all, "demo-out");              // report.json, losses.svg, loss_differences.svg
//   read_report<layout_result>("demo-out/report.json")  -> the same, e.g. of an earlier program
#pragma once

#include <dimesh/error.hpp>
#include <dimesh/show/svg.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "result.hpp"

namespace report {

using nlohmann::ordered_json;

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

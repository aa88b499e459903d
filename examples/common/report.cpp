// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include <dimesh/error.hpp>
#include <dimesh/show/svg.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace report {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const bytes_by_axis& bytes) {
  ordered_json j = ordered_json::object();
  for (const auto& [axis, n] : bytes) j[axis] = n;
  j["total"] = total(bytes);
  return j;
}

ordered_json json_of(const run_result& r) {
  ordered_json j = {{"layout", r.layout},
                    {"mesh", r.mesh},
                    {"ranks", r.ranks},
                    {"losses", r.losses},
                    {"bytes_predicted", json_of(r.bytes_predicted)},
                    {"bytes_counted", json_of(r.bytes_counted)},
                    {"parameters_per_rank", r.parameters_per_rank},
                    {"peak_bytes_per_rank", r.peak_bytes_per_rank},
                    {"max_loss_difference", r.max_loss_difference},
                    {"seconds", r.seconds}};
  for (const figure& f : r.figures)
    std::visit([&](const auto& value) { j[f.name] = value; }, f.value);
  return j;
}

/// Curves of the losses; they coincide up to rounding, hence the stripes.
dimesh::line_plot loss_plot(const std::vector<run_result>& all) {
  dimesh::line_plot plot{.title = "Training loss, " + std::to_string(all.size()) + " layouts",
                         .x_label = "step",
                         .y_label = "cross-entropy",
                         .striped = true};
  for (const run_result& r : all) {
    plot.series.push_back({r.layout, {}, r.losses, 3});
    for (std::size_t i = 0; i < r.losses.size(); ++i)
      plot.series.back().x.push_back(static_cast<double>(i + 1));
  }
  return plot;
}

/// How far each layout's losses are from the first one's.
dimesh::line_plot difference_plot(const std::vector<run_result>& all) {
  dimesh::line_plot plot{.title = "Distance from the losses of '" +
                                  (all.empty() ? std::string() : all.front().layout) + "'",
                         .x_label = "step",
                         .y_label = "absolute difference",
                         .log_y = true};
  for (std::size_t k = 1; k < all.size(); ++k) {
    dimesh::plot_series s{.name = all[k].layout, .width = 1.5};
    const auto &mine = all[k].losses, &first = all[0].losses;
    for (std::size_t i = 0; i < std::min(mine.size(), first.size()); ++i) {
      s.x.push_back(static_cast<double>(i + 1));
      s.y.push_back(std::abs(mine[i] - first[i]));
    }
    plot.series.push_back(s);
  }
  return plot;
}

}  // namespace

void write_report(const std::vector<run_result>& all, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::ofstream out(folder + "/report.json");
  ordered_json j = ordered_json::array();
  for (const run_result& one : all) j.push_back(json_of(one));
  if (!(out << j.dump(1, ' ', false, ordered_json::error_handler_t::replace) << std::endl))
    throw dimesh::error("write_report: '" + folder + "/report.json' cannot be written");
  loss_plot(all).write(folder + "/losses.svg");
  difference_plot(all).write(folder + "/loss_differences.svg");
}

}  // namespace report

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast does a pipeline run whose cells differ? By the simulator, on cells that `partition`
// cuts, both held against what is known of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <dimesh/pipeline/check.hpp>
#include <dimesh/pipeline/partition.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <numeric>
#include <string>

#include "models.hpp"

namespace gpipe {

namespace dm = dimesh;

inline int wrong = 0;
inline void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++wrong;
  std::printf("FAILED: %s\n", what.c_str());
}
inline std::vector<double> of_each(const std::vector<layer>& layers, double layer::* what) {
  std::vector<double> all;
  for (const layer& l : layers) all.push_back(l.*what);
  return all;
}

/// Durations of the cells of a chain, backward with the forward pass again: what GPipe does.
struct cell_times {
  std::vector<double> forward{};
  double message = 0;
  double of(const dm::stage_operation& o) const {
    const double f = forward[static_cast<std::size_t>(o.stage)];
    return o.work == dm::stage_work::forward ? f : 3 * f;
  }
};
/// Is there no cut into as many cells whose most expensive one is cheaper? One that fills each cell
/// as far as it may needs more of them.
inline bool is_cheapest(const std::vector<double>& layers, int cells, double largest) {
  const double room = largest * (1 - 1e-9);
  int needed = 1;
  double filled = 0;
  for (const double one : layers) {
    if (one > room) return true;
    if (filled + one > room) ++needed, filled = 0;
    filled += one;
  }
  return needed > cells;
}
/// What layers cost: by what the chain is cut, and how long each one takes.
struct costs {
  std::vector<double> cut, time;
};
inline std::vector<double> of_cells(const std::vector<double>& layers,
                                    const std::vector<int>& bounds) {
  std::vector<double> cells;
  for (std::size_t s = 0; s + 1 < bounds.size(); ++s)
    cells.push_back(
        std::accumulate(layers.begin() + bounds[s], layers.begin() + bounds[s + 1], 0.));
  return cells;
}
/// Mini-batches in a unit of time: a micro-batch takes one m-th of what it takes whole.
inline double throughput(const costs& layers, int stages, int micros) {
  const std::vector<int> bounds = dm::partition(layers.cut, stages);
  expect(is_cheapest(layers.cut, stages, dm::largest_cell(layers.cut, bounds)), "exact partition");
  cell_times times{of_cells(layers.time, bounds)};
  for (double& one : times.forward) one /= micros;
  const double makespan = dm::check_schedule(dm::gpipe{stages, micros}, times).makespan;
  // One micro-batch goes through all cells, the others follow as fast as the slowest one works.
  const double all = std::accumulate(times.forward.begin(), times.forward.end(), 0.);
  const double slowest = *std::max_element(times.forward.begin(), times.forward.end());
  const double formula = 4 * (all + (micros - 1) * slowest);
  expect(std::abs(makespan / formula - 1) < 1e-12, "the time of GPipe over uneven cells");
  return 1 / makespan;
}
inline double ideal(int k, int m) { return double(k) * m / (m + k - 1); }

/// The part of all time that the slowest cell takes.
inline double largest_part(const costs& layers, int cells) {
  const auto time = of_cells(layers.time, dm::partition(layers.cut, cells));
  return *std::max_element(time.begin(), time.end()) /
         std::accumulate(time.begin(), time.end(), 0.);
}
inline costs by_operations(const std::vector<layer>& model) {
  return {of_each(model, &layer::flops), of_each(model, &layer::flops)};
}
/// Cut by operations; but the time is that of what is read and written.
inline costs by_memory(const std::vector<layer>& model) {
  return {of_each(model, &layer::flops), of_each(model, &layer::kept)};
}

}  // namespace gpipe

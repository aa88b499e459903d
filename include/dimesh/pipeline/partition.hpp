// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layers make a stage? Contiguous cells of a chain whose most expensive one costs as little
// as possible: the pipeline is as slow as its slowest stage.
//
//   partition<2>(std::array{5, 1, 1, 5})   -> {0, 2, 4}: cell j has layers [j] to [j + 1] - 1
//   partition(costs, 4)                       the same when the program runs, as a vector
//   largest_cell(costs, bounds)               -> the cost of the most expensive cell
#pragma once

#include <array>
#include <vector>

#include "dimesh/detail/numbered.hpp"
#include "dimesh/error.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh {

namespace detail::pipeline {
/// The bounds of `cells` cells of n layers, for costs[i] >= 0; every cell has a layer. By dynamic
/// programme over the number of cells and of layers: exact, O(cells * n^2). Among equals, earlier
/// cells get less: earlier stages hold more micro-batches.
template <class Costs> constexpr std::vector<int> partition_bounds(const Costs& costs, int cells) {
  using cost_type = std::remove_cvref_t<decltype(costs[0])>;
  const auto n = costs.size(), k = static_cast<std::size_t>(cells);
  numbered<cost_type> before(n + 1);
  for (std::size_t i = 0; i < n; ++i) before[i + 1] = before[i] + costs[i];
  // largest[j * (n + 1) + i]: of the last j cells, which begin at layer i, the most expensive one.
  numbered<cost_type> largest((k + 1) * (n + 1));
  numbered<std::size_t> next((k + 1) * (n + 1), n);
  for (std::size_t i = 0; i < n; ++i) largest[n + 1 + i] = before[n] - before[i];
  for (std::size_t j = 2; j <= k; ++j)
    for (std::size_t i = 0; i + j <= n; ++i)
      for (std::size_t to = i + 1; to + j - 1 <= n; ++to) {
        const cost_type head = before[to] - before[i], tail = largest[(j - 1) * (n + 1) + to];
        const cost_type here = head < tail ? tail : head;
        const std::size_t at = j * (n + 1) + i;
        if (to > i + 1 && !(here < largest[at])) continue;
        largest[at] = here, next[at] = to;
      }
  std::vector<int> bounds{0};
  std::size_t at = 0;
  for (std::size_t j = k; j >= 1; --j) {
    at = next[j * (n + 1) + at];
    bounds.push_back(static_cast<int>(at));
  }
  return bounds;
}
}  // namespace detail::pipeline

/// Bounds of `cells` cells, cells + 1 numbers from 0 to costs.size(). Throws dimesh::error if there
/// are fewer layers than cells, or no cell.
template <class Costs> constexpr std::vector<int> partition(const Costs& costs, int cells) {
  if (cells < 1 || static_cast<std::size_t>(cells) > costs.size())
    throw error(
        "partition: there are fewer layers than cells, or no cells; every cell has a layer");
  return detail::pipeline::partition_bounds(costs, cells);
}

/// The same in a constant expression.
template <int Cells, class Cost, std::size_t Layers>
constexpr std::array<int, Cells + 1> partition(const std::array<Cost, Layers>& costs) {
  constexpr int layers = static_cast<int>(Layers);
  constexpr bool enough = Cells >= 1 && Cells <= layers;
  using fault = std::conditional_t<enough, no_fault, fewer_layers_than_cells<Cells, layers>>;
  static_assert(ok<fault>, "partition: there are fewer layers than cells; every cell has a layer");
  std::array<int, Cells + 1> bounds{};
  if constexpr (enough) {
    const std::vector<int> found = detail::pipeline::partition_bounds(costs, Cells);
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = found[i];
  }
  return bounds;
}

/// The cost of the most expensive cell.
template <class Costs, class Bounds>
constexpr auto largest_cell(const Costs& costs, const Bounds& bounds) {
  std::remove_cvref_t<decltype(costs[0])> largest{};
  for (std::size_t cell = 0; cell + 1 < bounds.size(); ++cell) {
    std::remove_cvref_t<decltype(costs[0])> sum{};
    for (int i = bounds[cell]; i < bounds[cell + 1]; ++i) sum += costs[static_cast<std::size_t>(i)];
    if (largest < sum) largest = sum;
  }
  return largest;
}

}  // namespace dimesh

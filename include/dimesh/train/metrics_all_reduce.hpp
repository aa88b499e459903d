// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do numbers that each rank has for itself become one? Seconds, bytes, records that were left
// out: by one all-reduce, so that the loop gets what is the same on all ranks. (Values of tensors
// are the same already.)
//
//   metrics_all_reduce(g, {{"seconds", mine}}, over_ranks::max)     -> the slowest rank's, on all
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/train/loop.hpp"

namespace dimesh {

enum class over_ranks { sum, mean, min, max };

/// Each number over the ranks of the grid. Collective. Throws dimesh::error, on all ranks, where
/// their names are not the same in the same order.
template <Mesh M>
[[nodiscard]] metrics metrics_all_reduce(const grid<M>& g, metrics mine, over_ranks how) {
  const auto& c = g.everyone();
  std::string names;
  for (const metric& m : mine) names += m.name + "\n";
  const std::string first = detail::text_from(c.handle(), 0, names);
  detail::together(c.handle(), [&] {
    if (names != first)
      throw error("metrics_all_reduce: the ranks have other numbers; give the same names on all");
  });
  std::vector<double> numbers(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) numbers[i] = mine[i].value;
  const auto kind = how == over_ranks::min   ? collective::reduction::min
                    : how == over_ranks::max ? collective::reduction::max
                                             : collective::reduction::sum;
  const detail::of_host here;
  std::vector<double> joined(numbers);
  collective::all_reduce(c, numbers.data(), joined.data(), static_cast<index_t>(joined.size()),
                         kind);
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i].value = how == over_ranks::mean ? joined[i] / c.size() : joined[i];
  return mine;
}

}  // namespace dimesh

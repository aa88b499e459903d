// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one long sequence keep a pipeline busy? Cut along a causal dim: a slice needs those
// before it at the same stage, none after it, so slices follow each other like micro-batches
// (TeraPipe, Li et al. 2021, arXiv 2102.07988).
//
//   sliced{.ranks = 4, .micros = 8, .slices = 4}    two sequences of four slices each
//   slice_lengths(32, 4, cost)    -> lengths that sum to 32, for which sum(t) + 3 * max(t) is least
//
// Later slices look at more, and take longer: lengths that make their times equal are uneven.
#pragma once

#include <vector>

#include "dimesh/detail/numbered.hpp"
#include "dimesh/pipeline/operation.hpp"

namespace dimesh {

/// gpipe over slices: all slices of all sequences forward, in order; then sequences in order, the
/// slices of each from its last one back. `micros` counts slices, and `slices` divides it.
struct sliced {
  int ranks = 0, micros = 0;
  int slices = 0;  ///< of a sequence
  constexpr bool fits() const { return slices >= 1 && micros % slices == 0; }
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    if (k < micros) return {stage_work::forward, k, rank};
    const int i = k - micros;
    return {stage_work::backward, i - i % slices + slices - 1 - i % slices, rank};
  }
};

/// Lengths of slices, and the time that a pipeline of `stages` stages takes for them, forward.
struct slice_plan {
  std::vector<int> lengths = {};
  double time = 0;
};

/// The lengths that make sum(t) + (stages - 1) * max(t) least, where cost(before, length) is the
/// time of a slice at a stage after so many elements of the sequence. Exact: for each time that a
/// slice may take at most, the least sum. O(length^2) such times, O(length^2) work for each;
/// elements may be blocks of several positions.
template <class Cost> constexpr slice_plan slice_lengths(int length, int stages, const Cost& cost) {
  const auto n = static_cast<std::size_t>(length);
  slice_plan best;
  detail::numbered<double> time((n + 1) * (n + 1)), sum(n + 1);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = from + 1; to <= n; ++to)
      time[from * (n + 1) + to] = cost(static_cast<int>(from), static_cast<int>(to - from));
  detail::numbered<std::size_t> cut(n + 1);
  for (std::size_t limit = 0; limit < time.size(); ++limit) {
    if (limit / (n + 1) >= limit % (n + 1)) continue;  // no slice
    const double most = time[limit];
    const double rest = static_cast<double>(stages - 1) * most;
    if (!best.lengths.empty() && rest >= best.time) continue;
    for (std::size_t to = 1; to <= n; ++to) {
      sum[to] = -1;  // no way leads to here
      for (std::size_t from = 0; from < to; ++from) {
        const double t = time[from * (n + 1) + to];
        if (t > most || sum[from] < 0 || (sum[to] >= 0 && sum[from] + t >= sum[to])) continue;
        sum[to] = sum[from] + t, cut[to] = from;
      }
    }
    if (sum[n] < 0 || (!best.lengths.empty() && sum[n] + rest >= best.time)) continue;
    best.time = sum[n] + rest;
    best.lengths.clear();
    for (std::size_t to = n; to > 0; to = cut[to])
      best.lengths.insert(best.lengths.begin(), static_cast<int>(to - cut[to]));
  }
  return best;
}

}  // namespace dimesh

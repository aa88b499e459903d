// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if micro-batches enter a pipeline at both ends? Every rank then has two stages, one of each
// direction, and the weights are there twice. Simulated only: to compare, not to run.
//
//   chimera{.ranks = 4, .micros = 8}     bubble (p - 2) / (2m + p - 2) where F = B
//   dual_pipe{.ranks = 4, .micros = 8}   bubble (p / 2 - 1)(F + 2B - 3W), B the whole backward,
//                                        where F = B - W, W <= F and messages take no time
#pragma once

#include "dimesh/pipeline/operation.hpp"

namespace dimesh {

/// Chimera (Li and Hoefler 2021, arXiv 2107.06925) with two directions: units of p micro-batches,
/// half of which go down the ranks and half up. p is even and divides m. Operations are ordered by
/// the unit of time in which they stand where forward and backward take one each.
struct chimera {
  int ranks = 0, micros = 0;
  constexpr bool fits() const { return ranks % 2 == 0 && micros % ranks == 0; }
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int micro) const {
    return micro % ranks < ranks / 2 ? stage : ranks - 1 - stage;
  }
  constexpr int length(int) const { return 2 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    // Every second slot from `rank` on, and every second one from its mirror image on: in turns
    // half a unit of forward operations of the one direction and half a unit backward of the other.
    const int up = ranks - 1 - rank;
    const auto begun = [this](int slot, int from) {
      return slot <= from ? 0 : detail::pipeline::least((slot - from + 1) / 2, micros);
    };
    int slot = k;
    while (begun(slot + 1, rank) + begun(slot + 1, up) <= k) ++slot;
    const bool down = (slot - rank) % 2 == 0;
    const int turn = (slot - (down ? rank : up)) / 2, place = turn % ranks, half = ranks / 2;
    const int unit = turn / ranks * ranks;
    if (place < half)
      return {stage_work::forward, unit + place + (down ? 0 : half), down ? rank : up};
    return {stage_work::backward, unit + place - half + (down ? half : 0), down ? up : rank};
  }
};

/// DualPipe (DeepSeek-V3, arXiv 2412.19437): m / 2 micro-batches from each end, forward of the one
/// direction beside backward of the other, and gradients of weights put off at the end. p is even,
/// m too and at least 2p. Where forward and backward overlap, they take the sum of their times
/// here: those of an overlap that saves nothing. The closed form above is the paper's; where
/// forward and the backward pass of inputs take different times, simulate: it is neither bound nor
/// exact.
struct dual_pipe {
  int ranks = 0, micros = 0;
  constexpr bool fits() const { return ranks % 2 == 0 && micros % 2 == 0 && micros >= 2 * ranks; }
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int micro) const {
    return micro < micros / 2 ? stage : ranks - 1 - stage;
  }
  constexpr int length(int rank) const { return 2 * micros + split(rank); }
  constexpr stage_operation at(int rank, int k) const {
    using enum stage_work;
    const int n = ranks / 2, h = half_rank(rank), late = n - h - 1, main = main_rounds(rank);
    // Direction 0 is the one that comes from the nearer end.
    if (k < 2 * late) return of(rank, forward, 0, k);
    k -= 2 * late;
    if (k < 2 * (h + 1)) return of(rank, forward, k % 2, (k % 2 == 0 ? 2 * late : 0) + k / 2);
    k -= 2 * (h + 1);
    if (k < 3 * late) {
      const int j = k / 3;
      if (k % 3 == 2) return of(rank, forward, 1, h + 1 + j);
      return of(rank, k % 3 == 0 ? backward_input : backward_weight, 1, j);
    }
    k -= 3 * late;
    if (k < 4 * main) {
      const int j = k / 4;
      if (k % 4 == 0) return of(rank, forward, 0, 2 * late + h + 1 + j);
      if (k % 4 == 1) return of(rank, backward, 1, late + j);
      if (k % 4 == 2) return of(rank, forward, 1, h + 1 + late + j);
      return of(rank, backward, 0, j);
    }
    k -= 4 * main;
    if (k < 3 * late) {
      const int j = k / 3;
      if (k % 3 == 1) return of(rank, forward, 1, h + 1 + late + main + j);
      return of(rank, backward, k % 3 == 0 ? 1 : 0, k % 3 == 0 ? late + main + j : main + j);
    }
    return end(rank, k - 3 * late);
  }
  /// Whether operations k and k + 1 overlap, and begin and end as one.
  constexpr bool together(int rank, int k) const {
    const int h = half_rank(rank), late = ranks / 2 - h - 1, main = main_rounds(rank);
    k -= 2 * late + 2 * (h + 1) + 3 * late;
    if (k < 0) return false;
    // The innermost ranks begin with a pair that does not.
    if (k < 4 * main) return k % 2 == 0 && (k > 0 || late > 0);
    k -= 4 * main;
    return k < 3 * late && k % 3 == 1;
  }

 private:
  constexpr int half_rank(int rank) const {
    return detail::pipeline::least(rank, ranks - 1 - rank);
  }
  constexpr int main_rounds(int rank) const { return micros / 2 - ranks + half_rank(rank) + 1; }
  /// Backward operations in two parts; each is one operation more.
  constexpr int split(int rank) const { return ranks / 2 - half_rank(rank) - 1 + put_off(rank); }
  constexpr int put_off(int) const { return ranks / 2; }
  constexpr stage_operation of(int rank, stage_work work, int direction, int index) const {
    const bool down = (direction == 0) == (rank < ranks / 2);
    return {work, (down ? 0 : micros / 2) + index, down ? rank : ranks - 1 - rank};
  }
  /// The j-th of the backward operations whose gradient of the weights is put off to the end: the
  /// later half of the pairs of both directions, then all that is left of direction 0.
  constexpr stage_operation late_input(int rank, int j) const {
    const int h = half_rank(rank), late = ranks / 2 - h - 1, before = late + main_rounds(rank);
    if (j > h) return of(rank, stage_work::backward_input, 0, before + h + 1 + j - (h + 1));
    const int pair = (h + 1) / 2 + (h % 2 == 1 ? j / 2 : (j + 1) / 2);
    const int direction = (j % 2 == 0) == (h % 2 == 1) ? 1 : 0;
    return of(rank, stage_work::backward_input, direction,
              direction == 1 ? before + late + pair : before + pair);
  }
  constexpr stage_operation end(int rank, int k) const {
    const int h = half_rank(rank), late = ranks / 2 - h - 1, before = late + main_rounds(rank);
    const int whole = h + 1;  // of the 2(h + 1) backward operations in pairs, so many are whole
    if (k < whole)
      return of(rank, stage_work::backward, 1 - k % 2,
                k % 2 == 0 ? before + late + k / 2 : before + k / 2);
    if (k < 2 * (h + 1)) return late_input(rank, k - whole);
    k -= 2 * (h + 1);
    int weights = k;  // so many are done
    if (k < 2 * late) {
      if (k % 2 == 1) return late_input(rank, h + 1 + k / 2);
      weights = k / 2;
    } else {
      weights = k - late;
    }
    stage_operation o = late_input(rank, weights);
    o.work = stage_work::backward_weight;
    return o;
  }
};

}  // namespace dimesh

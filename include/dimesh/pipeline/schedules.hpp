// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order does each rank of a pipeline work? The schedules with a whole backward pass; p
// ranks, m micro-batches, F and B the times of a stage's forward and backward.
//
//   gpipe{.ranks = 4, .micros = 8}            all forward, then all backward; m micro-batches held
//   one_f_one_b{.ranks = 4, .micros = 8}      as long, but rank r holds min(m, p - r)
//   interleaved{.ranks = 4, .micros = 8, .chunks = 2}      two stages a rank: half the bubble
//   forward_only{.ranks = 4, .micros = 8}     for serving
//   one_f_one_b{4, 8}.at(3, 1)                -> {backward, 0, 3}: the last rank goes back at once
//
// All of them go back through the micro-batches in ascending order, at every stage: gradients that
// are summed in place then have the same bits under each schedule.
#pragma once

#include "dimesh/pipeline/operation.hpp"

namespace dimesh {

/// Huang et al. 2019, arXiv 1811.06965: makespan (m + p - 1)(F + B), of which the share (p - 1) /
/// (m + p - 1) is bubble. (The paper's figure goes back in descending order; the time is the same.)
struct gpipe {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    return k < micros ? stage_operation{stage_work::forward, k, rank}
                      : stage_operation{stage_work::backward, k - micros, rank};
  }
};

/// Each rank its part of the micro-batches' way forward; nothing is held for a way back.
struct forward_only {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return micros; }
  constexpr stage_operation at(int rank, int k) const { return {stage_work::forward, k, rank}; }
};

namespace detail::pipeline {
/// Of n operations forward and n backward: `warm` forward, then one and one, then the rest
/// backward. The k-th of them all.
struct turn_of {
  bool forward;
  int index;
};
constexpr turn_of one_and_one(int k, int n, int warm) {
  if (k < warm) return {true, k};
  if (k >= 2 * n - warm) return {false, k - n};
  return (k - warm) % 2 == 0 ? turn_of{true, warm + (k - warm) / 2}
                             : turn_of{false, (k - warm) / 2};
}
}  // namespace detail::pipeline

/// One forward, one backward, with a flush (PipeDream-Flush, DAPPLE: arXiv 2006.09503, 2007.01045).
/// As long as gpipe; rank r, counted from 0, holds the activations of min(m, p - r) micro-batches.
struct one_f_one_b {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    const auto turn =
        detail::pipeline::one_and_one(k, micros, detail::pipeline::least(micros, ranks - 1 - rank));
    return {turn.forward ? stage_work::forward : stage_work::backward, turn.index, rank};
  }
};

/// Interleaved 1F1B (Narayanan et al. 2021, arXiv 2104.04473): rank r has the stages r, p + r, 2p +
/// r, ... A stage is one v-th of what a rank does, and so is the bubble: (p - 1)(F + B) / v. Of the
/// v * m forward operations, 2(p - r - 1) + (v - 1)p come before the first backward; a
/// `short_warmup` takes p - r - 1 instead of twice as many: fewer activations, the same time where
/// messages take none, and longer where they take some. p must divide m.
struct interleaved {
  int ranks = 0, micros = 0;
  int chunks = 0;  ///< stages of a rank, v
  bool short_warmup = false;
  constexpr bool fits() const { return chunks >= 1 && micros % ranks == 0; }
  constexpr int stages() const { return ranks * chunks; }
  constexpr int rank_of(int stage, int) const { return stage % ranks; }
  constexpr int length(int) const { return 2 * micros * chunks; }
  constexpr stage_operation at(int rank, int k) const {
    const int n = micros * chunks;
    const int warm = (ranks - 1 - rank) * (short_warmup ? 1 : 2) + (chunks - 1) * ranks;
    const auto turn = detail::pipeline::one_and_one(k, n, detail::pipeline::least(n, warm));
    // p micro-batches go through a chunk before they go on to the next one.
    const int round = ranks * chunks, chunk = turn.index % round / ranks;
    const int micro = turn.index / round * ranks + turn.index % ranks;
    if (turn.forward) return {stage_work::forward, micro, chunk * ranks + rank};
    return {stage_work::backward, micro, (chunks - 1 - chunk) * ranks + rank};
  }
};

}  // namespace dimesh

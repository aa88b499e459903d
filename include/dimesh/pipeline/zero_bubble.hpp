// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does the gradient of the weights fill the bubble? Nobody waits for it, so it is put off until
// the rank has nothing else to do (Qi et al. 2023, arXiv 2401.10241, and 2024, arXiv 2405.15362).
// F, B, W are the times of the forward pass and of the two parts of the backward pass.
//
//   zb_h1{.ranks = 4, .micros = 8}     bubble (p - 1)(F + B - W); p micro-batches held on each rank
//   zb_v{.ranks = 4, .micros = 8}      two stages a rank, there and back; no bubble where F = B = W
//   zb_h2{.ranks = 4, .micros = 8}     bubble (p - 1)(F + B - 2W) of steps that do not wait for
//                                      each other; 2p - 1 micro-batches held
#pragma once

#include "dimesh/pipeline/operation.hpp"

namespace dimesh {

namespace detail::pipeline {
/// `warm` forward operations; then one forward (while there are some), one backward for the input
/// and, from the `delay`-th on, the gradient of the weights that was put off so long; then what is
/// left of those. The k-th operation of the list.
constexpr stage_operation delayed_weights(int k, int micros, int warm, int delay, int rank) {
  using enum stage_work;
  if (k < warm) return {forward, k, rank};
  k -= warm;
  // Rounds before `forwards` have a forward operation, rounds from `delay` on one for weights.
  const int forwards = micros - warm, low = least(forwards, delay), high = most(forwards, delay);
  if (k < 2 * low)
    return k % 2 == 0 ? stage_operation{forward, warm + k / 2, rank}
                      : stage_operation{backward_input, k / 2, rank};
  k -= 2 * low;
  const int size = forwards < delay ? 1 : 3;
  if (k < size * (high - low)) {
    const int round = low + k / size, part = size == 1 ? 1 : k % size;
    if (part == 0) return {forward, warm + round, rank};
    if (part == 1) return {backward_input, round, rank};
    return {backward_weight, round - delay, rank};
  }
  k -= size * (high - low);
  if (k < 2 * (micros - high)) {
    const int round = high + k / 2;
    return k % 2 == 0 ? stage_operation{backward_input, round, rank}
                      : stage_operation{backward_weight, round - delay, rank};
  }
  return {backward_weight, micros - delay + k - 2 * (micros - high), rank};
}
}  // namespace detail::pipeline

/// ZB-H1: 1F1B whose rank r puts the gradient of the weights off by r micro-batches, so that all
/// ranks hold the same number of them, p.
struct zb_h1 {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 3 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    return detail::pipeline::delayed_weights(k, micros,
                                             detail::pipeline::least(micros, ranks - 1 - rank),
                                             detail::pipeline::least(micros, rank), rank);
  }
};

/// ZB-H2: more forward operations at the beginning, so that the first backward is not waited for.
/// Ranks end one after the other, as they begin: a step by itself is as long as ZB-H1's where F = B
/// = W. Between steps in a row there is no bubble, if the optimizer on one rank does not wait for
/// the others (value_and_update, pipeline.hpp).
struct zb_h2 {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int stage, int) const { return stage; }
  constexpr int length(int) const { return 3 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    return detail::pipeline::delayed_weights(
        k, micros, detail::pipeline::least(micros, 2 * (ranks - 1 - rank)),
        detail::pipeline::least(micros, 2 * rank), rank);
  }
};

/// ZB-V: rank r has the stages r and 2p - 1 - r, so that the last stage's output is on the rank
/// where the first one's input was. A stage is half of what a rank does. Holds 2p stages'
/// activations.
struct zb_v {
  int ranks = 0, micros = 0;
  constexpr int stages() const { return 2 * ranks; }
  constexpr int rank_of(int stage, int) const {
    return stage < ranks ? stage : 2 * ranks - 1 - stage;
  }
  constexpr int length(int) const { return 6 * micros; }
  constexpr stage_operation at(int rank, int k) const {
    // The list is made for at least 2p - 1 micro-batches; of fewer, the others are left out.
    const int full = detail::pipeline::most(micros, 2 * ranks - 1);
    if (full == micros) return of_full(rank, k, full);
    for (int j = 0, left = k;; ++j) {
      const stage_operation o = of_full(rank, j, full);
      if (o.micro < micros && left-- == 0) return o;
    }
  }

 private:
  constexpr stage_operation of_full(int r, int k, int m) const {
    using enum stage_work;
    const int there = r, back = 2 * ranks - 1 - r;
    // Down the V, until the first micro-batch is back: then both stages in turns.
    int first = 2 * (ranks - r) - 1;
    if (k < first) return {forward, k, there};
    k -= first;
    if (k < 2 * r)
      return k % 2 == 0 ? stage_operation{forward, k / 2, back}
                        : stage_operation{forward, first + k / 2, there};
    k -= 2 * r;
    const int turns = ranks - r;
    first += r;  // forward operations at `there` up to now: 2p - r - 1
    if (k < 3 * turns) {
      const int j = k / 3;
      if (k % 3 == 0) return {forward, r + j, back};
      return {k % 3 == 1 ? backward_input : backward_weight, j, back};
    }
    k -= 3 * turns;
    // The steady state: a forward at `there`, as long as there is one, and its backward; at `back`
    // likewise. The backward operations at `back` are p - r ahead.
    const int with = m - first;
    if (k < 6 * with) return steady(r, k / 6, k % 6, first);
    k -= 6 * with;
    const int without = first - ranks;  // forward operations at `back` that are left
    if (k < 5 * without) return steady(r, with + k / 5, k % 5 + 1, first);
    return last(r, k - 5 * without, m);
  }
  constexpr stage_operation steady(int r, int round, int part, int first) const {
    using enum stage_work;
    const int there = r, back = 2 * ranks - 1 - r, ahead = ranks - r;
    if (part == 0) return {forward, first + round, there};
    if (part == 1) return {backward_input, round, there};
    if (part == 2) return {backward_weight, round, there};
    if (part == 3) return {forward, ranks + round, back};
    return {part == 4 ? backward_input : backward_weight, ahead + round, back};
  }
  /// The end: what is left backward, then the gradients of weights that were put off.
  constexpr stage_operation last(int r, int k, int m) const {
    using enum stage_work;
    const int there = r, back = 2 * ranks - 1 - r;
    const int done_there = m - ranks, done_back = m - r;
    if (k < 2 * r)
      return k % 2 == 0 ? stage_operation{backward_input, done_there + k / 2, there}
                        : stage_operation{backward_input, done_back + k / 2, back};
    k -= 2 * r;
    const int turns = ranks - r;
    if (k < 2 * turns)
      return k % 2 == 0 ? stage_operation{backward_input, done_there + r + k / 2, there}
                        : stage_operation{backward_weight, done_there + k / 2, there};
    k -= 2 * turns;
    if (k < r) return {backward_weight, done_back + k, back};
    return {backward_weight, done_there + turns + k - r, there};
  }
};

}  // namespace dimesh

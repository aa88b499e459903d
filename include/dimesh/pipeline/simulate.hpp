// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When does each operation of a schedule begin and end? Every rank does its list in order, and
// waits for what an operation needs; messages are started and take a time of their own.
//
//   const schedule_run run = simulate(gpipe{2, 2}, stage_times{});
//   run.of(1)[0]      -> {{forward, 0, 1}, 1, 2}: rank 1 waits for rank 0
//   run.complete()    -> true; false where operations wait for each other
#pragma once

#include <span>

#include "dimesh/detail/numbered.hpp"
#include "dimesh/pipeline/operation.hpp"

namespace dimesh {

/// How long operations take, in any unit. Anything with `of(operation)` and `message` will do: of
/// stages that differ, or slices.
struct stage_times {
  double forward = 1, backward_input = 1, backward_weight = 1;
  double message = 0;  ///< from the end of an operation to the moment another rank has its result
  constexpr double of(const stage_operation& o) const {
    switch (o.work) {
      case stage_work::forward:
        return forward;
      case stage_work::backward_input:
        return backward_input;
      case stage_work::backward_weight:
        return backward_weight;
      default:
        return backward_input + backward_weight;
    }
  }
};

/// An operation, and when it is done.
struct timed_operation {
  stage_operation what = {};
  double begin = 0, end = 0;
};

/// What came of a schedule: rank by rank, the operations that could be done.
struct schedule_run {
  detail::numbered<timed_operation> done = {};  ///< first all places of rank 0, then of rank 1, ...
  detail::numbered<int> first = {};  ///< the place of a rank's first operation; one more at the end
  detail::numbered<int> reached = {};  ///< how many operations of its list each rank has done
  constexpr bool complete() const {
    for (std::size_t r = 0; r < reached.size(); ++r)
      if (reached[r] != first[r + 1] - first[r]) return false;
    return true;
  }
  /// The operations that a rank has done, in order.
  constexpr std::span<const timed_operation> of(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {done.begin() + first[r], static_cast<std::size_t>(reached[r])};
  }
  constexpr double makespan() const {
    double end = 0;
    for (std::size_t r = 0; r < reached.size(); ++r)
      for (const timed_operation& o : of(static_cast<int>(r)))
        if (o.end > end) end = o.end;
    return end;
  }
};

namespace detail::pipeline {

/// The parts of an operation that others wait for. A whole backward pass is both of the last two.
enum class part : signed char { forward, input, weight };

constexpr part first_part(stage_work w) {
  if (w == stage_work::forward) return part::forward;
  return w == stage_work::backward_weight ? part::weight : part::input;
}

/// A part at a stage, of a micro-batch; stage -1: of nothing.
struct need {
  part what = part::forward;
  int stage = -1, micro = 0;
};

/// What an operation needs: of the neighbouring stage, and of its own.
struct needs {
  need from_neighbour = {}, own = {}, slice = {};
};

template <PipelineSchedule S> constexpr needs needs_of(const S& s, const stage_operation& o) {
  const int stages = s.stages(), slices = slices_of(s), slice = o.micro % slices;
  needs n;
  if (o.work == stage_work::backward_weight) {
    n.own = {part::input, o.stage, o.micro};
    return n;
  }
  const bool forward = o.work == stage_work::forward;
  const int neighbour = forward ? o.stage - 1 : o.stage + 1;
  const part mine = forward ? part::forward : part::input;
  if (neighbour >= 0 && neighbour < stages) n.from_neighbour = {mine, neighbour, o.micro};
  if (!forward) n.own = {part::forward, o.stage, o.micro};
  if (forward && slice > 0) n.slice = {mine, o.stage, o.micro - 1};
  if (!forward && slice + 1 < slices) n.slice = {mine, o.stage, o.micro + 1};
  return n;
}

/// A number for each part of each stage and micro-batch.
template <class T> struct part_table {
  int micros = 0;
  numbered<T> values = {};
  constexpr part_table(int stages, int micro_batches, T value)
      : micros(micro_batches),
        values(static_cast<std::size_t>(3 * stages * micro_batches), value) {}
  constexpr T& operator()(part p, int stage, int micro) {
    return values[static_cast<std::size_t>((3 * stage + static_cast<int>(p)) * micros + micro)];
  }
  constexpr T& operator()(const need& n) { return (*this)(n.what, n.stage, n.micro); }
};

/// When an operation may begin at a rank that is free at `free`; negative: not yet known.
template <class S, class Times>
constexpr double begin_of(const S& s, const Times& times, part_table<double>& ended,
                          const stage_operation& o, int rank, double free) {
  const needs all = needs_of(s, o);
  for (const need& n : {all.from_neighbour, all.own, all.slice}) {
    if (n.stage < 0) continue;
    double there = ended(n);
    if (there < 0) return -1;
    if (s.rank_of(n.stage, n.micro) != rank) there += times.message;
    if (there > free) free = there;
  }
  return free;
}

/// How many operations a rank does as one from place k on: one, or two that are `together`.
template <class S> constexpr int done_together(const S& s, int rank, int k) {
  if constexpr (requires { s.together(rank, k); })
    return s.together(rank, k) && k + 1 < s.length(rank) ? 2 : 1;
  else
    return 1;
}
/// Does a rank's next operation, or the next two where the schedule has them done `together`: both
/// begin when both can, and nobody has the result of either before both are done.
template <class S, class Times>
constexpr bool do_next(const S& s, const Times& times, schedule_run& run, part_table<double>& ended,
                       int rank, double& free) {
  const auto r = static_cast<std::size_t>(rank);
  const int k = run.reached[r], length = s.length(rank);
  if (k == length) return false;
  const int group = done_together(s, rank, k);
  double end = free;
  for (int i = k; i < k + group; ++i)
    if ((end = begin_of(s, times, ended, s.at(rank, i), rank, end)) < 0) return false;
  for (int i = k; i < k + group; ++i) {
    const stage_operation o = s.at(rank, i);
    const double begin = end;
    end += times.of(o);
    run.done[static_cast<std::size_t>(run.first[r] + i)] = {o, begin, end};
  }
  for (int i = k; i < k + group; ++i) {
    const stage_operation o = s.at(rank, i);
    ended(first_part(o.work), o.stage, o.micro) = end;
    if (o.work == stage_work::backward) ended(part::weight, o.stage, o.micro) = end;
  }
  free = end;
  run.reached[r] += group;
  return true;
}

}  // namespace detail::pipeline

/// Runs a schedule whose operations are all in range (check.hpp looks first).
template <PipelineSchedule S, class Times = stage_times>
constexpr schedule_run simulate(const S& s, const Times& times = {}) {
  const auto ranks = static_cast<std::size_t>(s.ranks);
  schedule_run run;
  run.first = detail::numbered<int>(ranks + 1);
  for (int r = 0; r < s.ranks; ++r) {
    const auto at = static_cast<std::size_t>(r);
    run.first[at + 1] = run.first[at] + s.length(r);
  }
  run.done = detail::numbered<timed_operation>(static_cast<std::size_t>(run.first[ranks]));
  run.reached = detail::numbered<int>(ranks);
  detail::numbered<double> free(ranks);
  detail::pipeline::part_table<double> ended(s.stages(), s.micros, -1);
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < s.ranks; ++rank)
      while (detail::pipeline::do_next(s, times, run, ended, rank,
                                       free[static_cast<std::size_t>(rank)]))
        moved = true;
  }
  return run;
}

}  // namespace dimesh

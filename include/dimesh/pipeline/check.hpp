// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a schedule run, and what does it cost? One function answers, while compiling or running.
//
//   constexpr schedule_facts f = check_schedule(one_f_one_b{4, 8});
//   f.ok()           -> true: all is done once, where its stage lives, and nothing waits for ever
//   f.peak           -> 4 stages' activations on the rank that holds most
//   f.makespan, f.bubble     -> 33, 3 / 11: in the unit of stage_times{}, and as a share
//   f.safe_blocking  -> false: with blocking messages two neighbours would both send
//
// What is wrong is said in words by in_words (schedule_words.hpp), and refused while compiling by
// checked_schedule<S>() (checked_schedule.hpp).
#pragma once

#include "dimesh/pipeline/check_messages.hpp"

namespace dimesh {

/// In which way a schedule is wrong.
enum class schedule_fault : signed char {
  none,
  does_not_fit,  ///< its numbers: none of something, or it says so itself
  operation_unknown,  ///< no such stage, or no such micro-batch
  operation_elsewhere,  ///< the stage is another rank's
  operation_twice,  ///< or backward both whole and in parts
  operation_never,  ///< what is sent is never received, or never sent
  waits_for_ever,  ///< for an operation that comes later, or waits itself
  messages_out_of_order,  ///< received in another order than sent
  backward_not_ascending  ///< gradients of micro-batches are summed in another order than 0, 1, ...
};

/// What check_schedule finds. Times are in the unit of those given.
struct schedule_facts {
  schedule_fault fault = schedule_fault::none;
  int rank = 0,
      place = 0;  ///< of the first faulty operation: its rank, and how many come before it
  stage_operation what = {};  ///< that operation
  stage_operation awaited = {};  ///< what it waits for for ever, or receives too late

  int peak = 0;  ///< activations of a stage for a micro-batch held at a time, at most, on any rank
  double makespan = 0;  ///< from the first operation's begin to the last one's end
  double busy = 0;  ///< of the rank that works longest
  double span = 0;  ///< the longest time from a rank's first begin to its own last end
  double bubble = 0;  ///< the share of all ranks' time, makespan each, in which they do nothing
  int messages = 0;  ///< between ranks
  bool safe_blocking = false;  ///< runs with blocking messages: receive, work, send
  int window = 0;  ///< the smallest number of messages of a stage and direction under way at a time
      ///< with which it runs, where the next one waits for the first of them
  bool safe_paired = false;  ///< runs if a rank sends and receives together between operations
  bool one_tag = false;  ///< order alone tells the messages of two ranks apart, without a direction

  constexpr bool ok() const { return fault == schedule_fault::none; }
};

namespace detail::pipeline {

constexpr schedule_facts faulty(schedule_fault fault, int rank, int place, stage_operation what,
                                stage_operation awaited = {}) {
  schedule_facts f;
  f.fault = fault, f.rank = rank, f.place = place, f.what = what, f.awaited = awaited;
  return f;
}

/// Where in its rank's list the operation with a part stands; -1: nowhere.
template <PipelineSchedule S>
constexpr schedule_facts find_places(const S& s, part_table<int>& places) {
  using enum schedule_fault;
  for (int rank = 0; rank < s.ranks; ++rank)
    for (int k = 0; k < s.length(rank); ++k) {
      const stage_operation o = s.at(rank, k);
      if (o.stage < 0 || o.stage >= s.stages() || o.micro < 0 || o.micro >= s.micros)
        return faulty(operation_unknown, rank, k, o);
      if (s.rank_of(o.stage, o.micro) != rank) return faulty(operation_elsewhere, rank, k, o);
      int& place = places(first_part(o.work), o.stage, o.micro);
      if (place >= 0) return faulty(operation_twice, rank, k, o, s.at(rank, place));
      place = k;
      if (o.work != stage_work::backward) continue;
      int& weight = places(part::weight, o.stage, o.micro);
      if (weight >= 0) return faulty(operation_twice, rank, k, o, s.at(rank, weight));
      weight = k;
    }
  return {};
}

/// Is everything there? Nothing goes backward in a schedule of which no operation does.
template <PipelineSchedule S>
constexpr schedule_facts find_missing(const S& s, part_table<int>& places, bool goes_back) {
  for (int micro = 0; micro < s.micros; ++micro)
    for (int stage = 0; stage < s.stages(); ++stage)
      for (const part p : {part::forward, part::input, part::weight}) {
        if (places(p, stage, micro) >= 0 || (p != part::forward && !goes_back)) continue;
        const int rank = s.rank_of(stage, micro);
        const stage_work work = p == part::forward ? stage_work::forward
                                : p == part::input ? stage_work::backward_input
                                                   : stage_work::backward_weight;
        return faulty(schedule_fault::operation_never, rank, s.length(rank), {work, micro, stage});
      }
  return {};
}

/// The first operation that cannot be done, of a run that did not come to its end: if there is one
/// that waits for its own rank, that is the cause.
template <PipelineSchedule S>
constexpr schedule_facts find_waiting(const S& s, const schedule_run& run,
                                      part_table<int>& places) {
  schedule_facts found;
  for (int rank = 0; rank < s.ranks; ++rank) {
    const int reached = run.reached[static_cast<std::size_t>(rank)];
    if (reached == s.length(rank)) continue;
    for (int k = reached; k < reached + done_together(s, rank, reached); ++k) {
      const stage_operation o = s.at(rank, k);
      const needs all = needs_of(s, o);
      for (const need& n : {all.own, all.slice, all.from_neighbour}) {
        if (n.stage < 0) continue;
        const int other = s.rank_of(n.stage, n.micro), place = places(n);
        if (place < run.reached[static_cast<std::size_t>(other)]) continue;
        if (found.ok() || other == rank)
          found = faulty(schedule_fault::waits_for_ever, rank, k, o, s.at(other, place));
        if (other == rank) return found;
        break;
      }
    }
  }
  return found;
}

/// Do messages from one rank to another, of one direction, arrive in the order in which they are
/// received? And those of both directions together, which one tag would need?
template <PipelineSchedule S>
constexpr schedule_facts find_disorder(const S& s, part_table<int>& places) {
  schedule_facts found;
  found.one_tag = true;
  const auto ranks = static_cast<std::size_t>(s.ranks);
  numbered<int> last(2 * ranks);
  for (int rank = 0; rank < s.ranks; ++rank) {
    for (int& place : last) place = -1;
    for (int k = 0; k < s.length(rank); ++k) {
      const stage_operation o = s.at(rank, k);
      const partner from = sender_of(s, o, places);
      if (from.rank < 0) continue;
      ++found.messages;
      const auto forward = 2 * static_cast<std::size_t>(from.rank), backward = forward + 1;
      int& mine = last[o.work == stage_work::forward ? forward : backward];
      if (from.place < mine)
        return faulty(schedule_fault::messages_out_of_order, rank, k, o, s.at(from.rank, mine));
      if (from.place < most(last[forward], last[backward])) found.one_tag = false;
      mine = from.place;
    }
  }
  return found;
}

/// The first operation that adds to a stage's gradients after a later micro-batch's has: bits of a
/// sum depend on its order, which is one for all schedules. (Slices come back in reverse.)
template <PipelineSchedule S> constexpr schedule_facts find_descent(const S& s) {
  if (slices_of(s) > 1) return {};
  numbered<int> last(2 * static_cast<std::size_t>(s.stages()));
  for (int rank = 0; rank < s.ranks; ++rank) {
    for (int& k : last) k = -1;
    for (int k = 0; k < s.length(rank); ++k) {
      const stage_operation o = s.at(rank, k);
      if (o.work == stage_work::forward) continue;
      const auto at = 2 * static_cast<std::size_t>(o.stage);
      for (const bool weight : {false, true}) {
        if (o.work == (weight ? stage_work::backward_input : stage_work::backward_weight)) continue;
        int& before = last[at + (weight ? 1 : 0)];
        if (before >= 0 && s.at(rank, before).micro > o.micro)
          return faulty(schedule_fault::backward_not_ascending, rank, k, o, s.at(rank, before));
        before = k;
      }
    }
  }
  return {};
}

}  // namespace detail::pipeline

/// How many activations of a stage for one micro-batch a rank holds at most: from the begin of a
/// forward operation to the end of the backward one, or of its part for the weights.
template <PipelineSchedule S> constexpr int peak_held(const S& s, int rank) {
  int held = 0, peak = 0, back = 0;
  for (int k = 0; k < s.length(rank); ++k) {
    const stage_work work = s.at(rank, k).work;
    if (work == stage_work::forward)
      peak = detail::pipeline::most(peak, ++held);
    else if (work != stage_work::backward_input)
      --held, ++back;
  }
  return back == 0 ? detail::pipeline::least(peak, 1) : peak;
}

namespace detail::pipeline {
template <PipelineSchedule S, class Times>
constexpr void add_times(schedule_facts& facts, const S& s, const schedule_run& run,
                         const Times& times) {
  double all = 0;
  facts.makespan = run.makespan();
  for (int rank = 0; rank < s.ranks; ++rank) {
    const auto mine = run.of(rank);
    double busy = 0;
    for (const timed_operation& o : mine) busy += times.of(o.what);
    all += busy;
    if (busy > facts.busy) facts.busy = busy;
    if (mine.empty()) continue;
    const double span = mine.back().end - mine.front().begin;
    if (span > facts.span) facts.span = span;
  }
  const double whole = facts.makespan * static_cast<double>(s.ranks);
  facts.bubble = whole > 0 ? (whole - all) / whole : 0;
}
}  // namespace detail::pipeline

/// Everything about a schedule; or the first thing that is wrong with it, and nothing else.
template <PipelineSchedule S, class Times = stage_times>
constexpr schedule_facts check_schedule(const S& s, const Times& times = {}) {
  if (!detail::pipeline::schedule_fits(s))
    return detail::pipeline::faulty(schedule_fault::does_not_fit, 0, 0, stage_operation{});
  detail::pipeline::part_table<int> places(s.stages(), s.micros, -1);
  if (const auto f = detail::pipeline::find_places(s, places); !f.ok()) return f;
  bool backward = false;
  for (int rank = 0; rank < s.ranks && !backward; ++rank)
    for (int k = 0; k < s.length(rank) && !backward; ++k)
      backward = s.at(rank, k).work != stage_work::forward;
  if (const auto f = detail::pipeline::find_missing(s, places, backward); !f.ok()) return f;
  const schedule_run run = simulate(s, times);
  if (!run.complete()) return detail::pipeline::find_waiting(s, run, places);
  schedule_facts facts = detail::pipeline::find_disorder(s, places);
  if (!facts.ok()) return facts;
  if (const auto f = detail::pipeline::find_descent(s); !f.ok()) return f;
  for (int rank = 0; rank < s.ranks; ++rank)
    facts.peak = detail::pipeline::most(facts.peak, peak_held(s, rank));
  detail::pipeline::add_times(facts, s, run, times);
  facts.safe_blocking = detail::pipeline::runs_waiting(s, false, places);
  facts.window = detail::pipeline::smallest_window(s, places);
  facts.safe_paired = detail::pipeline::runs_waiting(s, true, places);
  return facts;
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who refuses a wrong schedule? The compiler, where its numbers are known; else the start of the
// run, by the same check.
//
//   constexpr auto facts = checked_schedule<one_f_one_b{.ranks = 4, .micros = 8}>();
//   checked_schedule(interleaved{.ranks = n, .micros = 10, .chunks = 2})     throws for n = 4
//   in_words(check_schedule(mine{}))
//     -> "operation 3 of rank 1, the backward pass of micro-batch 0 through stage 1, waits ..."
#pragma once

#include <string>

#include "dimesh/error.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/pipeline/check.hpp"

namespace dimesh {

namespace detail::pipeline {

inline std::string in_words(const stage_operation& o) {
  const char* const work = o.work == stage_work::forward          ? "forward pass of"
                           : o.work == stage_work::backward       ? "backward pass of"
                           : o.work == stage_work::backward_input ? "gradient of the input for"
                                                                  : "gradient of the weights for";
  return std::string("the ") + work + " micro-batch " + std::to_string(o.micro) +
         " through stage " + std::to_string(o.stage);
}

/// A fault if a schedule has it, with its culprits.
template <bool Has, class Fault> using fault_if = std::conditional_t<Has, Fault, no_fault>;

}  // namespace detail::pipeline

/// What is wrong with a schedule, in one sentence; empty if nothing is. Operations of a rank are
/// counted from 0, as ranks, stages and micro-batches are.
inline std::string in_words(const schedule_facts& f) {
  const std::string here = "operation " + std::to_string(f.place) + " of rank " +
                           std::to_string(f.rank) + ", " + detail::pipeline::in_words(f.what) +
                           ", ";
  switch (f.fault) {
    case schedule_fault::does_not_fit:
      return "it is not made for these numbers of ranks, stages and micro-batches";
    case schedule_fault::operation_unknown:
      return here + "names a stage or a micro-batch that does not exist";
    case schedule_fault::operation_elsewhere:
      return here + "belongs to another rank, where the stage is";
    case schedule_fault::operation_twice:
      return here + "has been done before, as " + detail::pipeline::in_words(f.awaited);
    case schedule_fault::operation_never:
      return "rank " + std::to_string(f.rank) + " never does " +
             detail::pipeline::in_words(f.what) + ", and nobody else has that stage";
    case schedule_fault::waits_for_ever:
      return here + "waits for ever for " + detail::pipeline::in_words(f.awaited);
    case schedule_fault::backward_not_ascending:
      return here + "comes after " + detail::pipeline::in_words(f.awaited) +
             "; sums of gradients would have other bits than under other schedules";
    case schedule_fault::messages_out_of_order:
      return here + "receives what was sent before " + detail::pipeline::in_words(f.awaited) +
             ", which it has received already";
    default:
      return {};
  }
}

/// The facts of a schedule that runs. Throws dimesh::error for one that does not, with the reason.
template <PipelineSchedule S, class Times = stage_times>
schedule_facts checked_schedule(const S& s, const Times& times = {}) {
  const schedule_facts facts = check_schedule(s, times);
  if (!facts.ok()) throw error("checked_schedule: this schedule cannot run: " + in_words(facts));
  return facts;
}

/// The same for a schedule that is known while compiling; its durations are those of stage_times{}.
template <auto S>
  requires PipelineSchedule<decltype(S)>
constexpr schedule_facts checked_schedule() {
  using kind = schedule_fault;
  using detail::pipeline::fault_if;
  constexpr schedule_facts f = check_schedule(S);
  constexpr bool other = f.fault == kind::operation_unknown || f.fault == kind::operation_twice ||
                         f.fault == kind::operation_elsewhere;
  using unfit = fault_if<f.fault == kind::does_not_fit, schedule_does_not_fit<S.ranks, S.micros>>;
  using wrong = fault_if<other, operation_not_of_rank<f.rank, f.place>>;
  using never = fault_if<f.fault == kind::operation_never,
                         operation_never_done<f.rank, f.what.stage, f.what.micro>>;
  using waits =
      fault_if<f.fault == kind::waits_for_ever, operation_waits_for_ever<f.rank, f.place>>;
  using disorder =
      fault_if<f.fault == kind::messages_out_of_order, messages_out_of_order<f.rank, f.place>>;
  using descends =
      fault_if<f.fault == kind::backward_not_ascending, backward_not_ascending<f.rank, f.place>>;
  static_assert(ok<unfit>,
                "checked_schedule: the schedule is not made for these numbers; give it ranks and "
                "micro-batches that divide as it says");
  static_assert(
      ok<wrong>,
      "checked_schedule: a rank does what is no operation of its stages, or has been done; "
      "look at at(rank, place)");
  static_assert(
      ok<never>,
      "checked_schedule: a micro-batch is not done at a stage, and the next one waits for "
      "its message; add the operation to the rank's list");
  static_assert(
      ok<waits>,
      "checked_schedule: the ranks wait for each other for ever; put this operation behind "
      "what it needs");
  static_assert(
      ok<disorder>,
      "checked_schedule: a rank receives messages in another order than they are sent; let "
      "both ranks take micro-batches in one order");
  static_assert(
      ok<descends>,
      "checked_schedule: a stage goes back through micro-batches in another order than 0, 1, 2, "
      "..., and gradients are summed in it; let backward operations ascend");
  return f;
}

}  // namespace dimesh

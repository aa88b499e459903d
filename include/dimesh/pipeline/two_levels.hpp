// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if some states may go to a disk? Then fewer steps are run again, and states are written and
// read instead; which of them is a matter of what each costs (after Aupy et al. 2016, "Optimal
// multistage algorithm for adjoint computation").
//
//   const two_level_plan plan = plan_two_levels(1000, 5, 10.0, 10.0);
//   plan.extra()          -> advances beyond one for each step, writes and reads, in steps' time
//   plan.each(sink)       a stream of actions (recompute_plan.hpp)
#pragma once

#include "dimesh/detail/numbered.hpp"
#include "dimesh/pipeline/recompute_plan.hpp"

namespace dimesh {

/// At most `slots` states in memory, any number on the disk; equal steps.
class two_level_plan {
 public:
  int steps = 0;
  int slots = 0;

  /// steps is at least 1; a write and a read take so many steps' time. O(steps^2 * slots) work.
  constexpr two_level_plan(int n, int room, double write, double read)
      : steps(detail::pipeline::at_least(1, "plan_two_levels", n, "steps")),
        slots(detail::pipeline::at_least(0, "plan_two_levels", room, "slots")),
        write_(write),
        read_(read),
        kept_(static_cast<std::size_t>((n + 1) * (room + 1))),
        written_(kept_.size()) {
    for (int length = 2; length <= n; ++length)
      for (int free = 0; free <= room; ++free) {
        if (free > 0) kept_[place(length, free)] = solve_kept(length, free);
        written_[place(length, free)] = solve_written(length, free);
      }
  }

  /// The time beyond one run of each step.
  constexpr double extra() const {
    if (steps == 1) return 0;
    const double disk = write_ + written_[place(steps, slots)].time;
    return starts_in_memory() ? kept_[place(steps, slots)].time : disk;
  }

  template <class Sink> constexpr void each(Sink&& sink) const {
    if (steps == 1) return step(sink, 0);  // nothing need be kept
    const plan_level level = starts_in_memory() ? plan_level::memory : plan_level::disk;
    sink(plan_action{plan_work::keep, 0, 0, level});
    if (level == plan_level::memory)
      back_kept(sink, 0, steps, slots);
    else
      back_written(sink, 0, steps, slots);
    sink(plan_action{plan_work::drop, 0, 0, level});
  }

 private:
  // How a part of the chain goes back whose first state is in hand, and in one of `free` slots, or
  // on the disk with `free` slots beside. `ahead` steps on, the next state is kept, or none is
  // where one step is left; 0: the first one is taken into memory, too.
  struct choice {
    double time = 0;
    int ahead = 0;
    bool to_disk = false;
  };

  constexpr std::size_t place(int length, int free) const {
    return static_cast<std::size_t>(length * (slots + 1) + free);
  }
  constexpr bool starts_in_memory() const {
    return slots > 0 &&
           kept_[place(steps, slots)].time <= write_ + written_[place(steps, slots)].time;
  }
  // The rest of the chain after an advance, with `free` slots for its first state and more.
  constexpr choice rest(int length, int free, int ahead) const {
    if (length == 1) return {0, ahead, false};
    const double disk = write_ + written_[place(length, free)].time;
    if (free > 0 && kept_[place(length, free)].time <= disk)
      return {kept_[place(length, free)].time, ahead, false};
    return {disk, ahead, true};
  }
  constexpr choice solve_kept(int length, int free) const {
    choice best{-1};
    for (int ahead = 1; ahead < length; ++ahead) {
      choice c = rest(length - ahead, free - 1, ahead);
      c.time += ahead + kept_[place(ahead, free)].time;
      if (best.time < 0 || c.time < best.time) best = c;
    }
    return best;
  }
  constexpr choice solve_written(int length, int free) const {
    choice best{free > 0 ? kept_[place(length, free)].time : -1};
    for (int ahead = 1; ahead < length; ++ahead) {
      choice c = rest(length - ahead, free, ahead);
      c.time += ahead + read_ + written_[place(ahead, free)].time;
      if (best.time < 0 || c.time < best.time) best = c;
    }
    return best;
  }

  template <class Sink> constexpr void step(Sink& sink, int at) const {
    sink(plan_action{plan_work::tape, at, at + 1});
    sink(plan_action{plan_work::reverse, at, at + 1});
  }
  template <class Sink>
  constexpr void tail(Sink& sink, const choice& c, int at, int length, int free) const {
    const int next = at + c.ahead, left = length - c.ahead;
    sink(plan_action{plan_work::advance, at, next});
    if (left == 1) return step(sink, next);
    const plan_level level = c.to_disk ? plan_level::disk : plan_level::memory;
    sink(plan_action{plan_work::keep, next, next, level});
    if (c.to_disk)
      back_written(sink, next, left, free);
    else
      back_kept(sink, next, left, free);
    sink(plan_action{plan_work::drop, next, next, level});
  }
  template <class Sink> constexpr void back_kept(Sink& sink, int at, int length, int free) const {
    while (length > 1) {
      const choice c = kept_[place(length, free)];
      tail(sink, c, at, length, free - 1);
      sink(plan_action{plan_work::load, at, at});
      length = c.ahead;
    }
    step(sink, at);
  }
  template <class Sink>
  constexpr void back_written(Sink& sink, int at, int length, int free) const {
    while (length > 1) {
      const choice c = written_[place(length, free)];
      if (c.ahead == 0) {
        sink(plan_action{plan_work::keep, at, at});
        back_kept(sink, at, length, free);
        sink(plan_action{plan_work::drop, at, at});
        return;
      }
      tail(sink, c, at, length, free);
      sink(plan_action{plan_work::load, at, at, plan_level::disk});
      length = c.ahead;
    }
    step(sink, at);
  }

  double write_, read_;
  detail::numbered<choice> kept_, written_;
};

/// The plan of least time for equal steps, `slots` states in memory and a disk.
constexpr two_level_plan plan_two_levels(int steps, int slots, double write, double read) {
  return {steps, slots, write, read};
}

}  // namespace dimesh

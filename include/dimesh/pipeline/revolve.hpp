// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a gradient go back through a thousand equal steps with room for ten states? With the
// fewest steps run again, which a closed form gives (Griewank and Walther 2000, "Algorithm 799").
//
//   revolve{.steps = 1000, .slots = 10}.each(sink)      a stream of actions (recompute_plan.hpp)
//   revolve_reach(10, 3)        -> 286: the longest chain no step of which is run again 4 times
//   revolve_extra(1000, 10)     -> 3636: advances beyond one for each step
#pragma once

#include "dimesh/pipeline/recompute_plan.hpp"

namespace dimesh {

/// The longest chain that `slots` kept states, the first among them, take back with each step run
/// at most `again` times more than once: (slots + again) choose slots; a bound where it is huge.
constexpr long long revolve_reach(int slots, int again) {
  if (slots < 0 || again < 0) return 0;
  long long reach = 1;
  for (int i = 1; i <= (slots < again ? slots : again); ++i) {
    const long long more = slots < again ? again : slots;
    if (reach > (1LL << 61) / (more + i)) return 1LL << 61;
    reach = reach * (more + i) / i;
  }
  return reach;
}

namespace detail::pipeline {
constexpr int revolve_again(int steps, int slots) {
  at_least(1, "revolve", slots, "slots");
  int again = 0;
  while (revolve_reach(slots, again) < steps) ++again;
  return again;
}
/// How far to advance before the next state is kept: both parts are then within their reach.
constexpr int revolve_split(int steps, int slots) {
  const int again = revolve_again(steps, slots);
  long long split = revolve_reach(slots, again - 2);
  const long long least = steps - revolve_reach(slots - 1, again);
  if (split < least) split = least;
  return split < 1 ? 1 : static_cast<int>(split);
}
}  // namespace detail::pipeline

/// The fewest advances with which a chain goes back, beyond the run of each step that is taped.
constexpr long long revolve_extra(int steps, int slots) {
  const int again = detail::pipeline::revolve_again(steps, slots);
  return static_cast<long long>(again) * steps - revolve_reach(slots + 1, again - 1);
}

/// At most `slots` states are kept, the first one among them; one step is taped at a time. steps
/// and slots are at least 1.
struct revolve {
  int steps = 0;
  int slots = 1;
  template <class Sink> constexpr void each(Sink&& sink) const {
    detail::pipeline::at_least(1, "revolve", steps, "steps");
    detail::pipeline::at_least(1, "revolve", slots, "slots");
    sink(plan_action{plan_work::keep, 0, 0});
    back(sink, 0, steps, slots);
    sink(plan_action{plan_work::drop, 0, 0});
  }

 private:
  // State `at` is kept and in hand.
  template <class Sink> constexpr void back(Sink& sink, int at, int length, int room) const {
    using enum plan_work;
    while (length > 1) {
      const int ahead = detail::pipeline::revolve_split(length, room), next = at + ahead;
      sink(plan_action{advance, at, next});
      if (length - ahead == 1) {
        step(sink, next);
      } else {
        sink(plan_action{keep, next, next});
        back(sink, next, length - ahead, room - 1);
        sink(plan_action{drop, next, next});
      }
      sink(plan_action{load, at, at});
      length = ahead;
    }
    step(sink, at);
  }
  template <class Sink> constexpr void step(Sink& sink, int at) const {
    sink(plan_action{plan_work::tape, at, at + 1});
    sink(plan_action{plan_work::reverse, at, at + 1});
  }
};

}  // namespace dimesh

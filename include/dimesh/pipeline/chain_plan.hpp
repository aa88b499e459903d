// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a gradient go back through steps of all kinds in a given memory, in the least time? By a
// dynamic programme over parts of the chain and the memory left for them (Beaumont et al. 2019,
// "Optimal checkpointing for heterogeneous chains", arXiv 1911.13214).
//
//   const chain_plan plan = plan_chain(costs, 24, 1 << 30);     costs: a chain (check_plan.hpp)
//   plan.fits(), plan.time()          -> false where no plan has room
//   plan.each(sink)                   a stream of actions (recompute_plan.hpp)
//
// Optimal among plans that keep a state until the gradient has come back to it. Each step is either
// taped at once, or run again from a state kept before it.
#pragma once

#include "dimesh/detail/numbered.hpp"
#include "dimesh/pipeline/check_plan.hpp"
#include "dimesh/pipeline/recompute_plan.hpp"

namespace dimesh {

class chain_plan {
 public:
  int steps = 0;

  /// As plan_chain below. Sizes are in units, rounded up.
  template <class Chain>
  constexpr chain_plan(const Chain& costs, int n, long long memory, int most)
      : steps(detail::pipeline::at_least(1, "plan_chain", n, "steps")),
        state_(static_cast<std::size_t>(n) + 1),
        tape_(static_cast<std::size_t>(n)) {
    detail::pipeline::at_least(1, "plan_chain", most, "units");
    const long long unit = memory <= most ? 1 : memory / most + (memory % most != 0);
    const long long never_fits = memory / unit + 1;  // whatever is larger counts as this
    const auto units = [unit, never_fits](long long size) {
      const long long all = size / unit + (size % unit != 0);
      return static_cast<int>(all < never_fits ? all : never_fits);
    };
    for (int i = 0; i <= n; ++i) state_[static_cast<std::size_t>(i)] = units(costs.state(i));
    for (int i = 0; i < n; ++i) tape_[static_cast<std::size_t>(i)] = units(costs.tape(i));
    room_ = static_cast<int>(memory / unit) - state(0);
    if (room_ < 0) return;
    best_ = detail::numbered<double>(size(), -1);
    choice_ = detail::numbered<int>(size(), 0);
    for (int length = 1; length <= n; ++length)
      for (int from = 0; from + length <= n; ++from)
        for (int room = 0; room <= room_; ++room) solve(costs, from, from + length - 1, room);
  }

  /// Whether there is a plan at all.
  constexpr bool fits() const { return room_ >= 0 && best_[top()] >= 0; }
  /// All forward and backward steps; -1 where no plan fits.
  constexpr double time() const { return fits() ? best_[top()] : -1; }

  template <class Sink> constexpr void each(Sink&& sink) const {
    if (!fits()) return;
    sink(plan_action{plan_work::keep, 0, 0});
    back(sink, 0, steps - 1, room_);
    sink(plan_action{plan_work::drop, 0, 0});
  }

 private:
  constexpr int state(int i) const { return state_[static_cast<std::size_t>(i)]; }
  constexpr int tape(int i) const { return tape_[static_cast<std::size_t>(i)]; }
  constexpr std::size_t size() const { return place(steps - 1, steps - 1, room_) + 1; }
  constexpr std::size_t top() const { return place(0, steps - 1, room_); }
  constexpr std::size_t place(int from, int to, int room) const {
    const auto n = static_cast<std::size_t>(steps), rooms = static_cast<std::size_t>(room_) + 1;
    return (static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)) * rooms +
           static_cast<std::size_t>(room);
  }

  // The least time for the steps from..to, whose first state is there and counted elsewhere, as is
  // the end of the chain after them; the cotangent that comes in is counted here. The choice:
  // `from` to tape the first step, else the next state that is kept.
  template <class Chain> constexpr void solve(const Chain& costs, int from, int to, int room) {
    const std::size_t here = place(from, to, room);
    const int in = state(to + 1);
    const auto take = [&](double time, int choice) {
      if (best_[here] < 0 || time < best_[here]) best_[here] = time, choice_[here] = choice;
    };
    const int left = room - tape(from);
    if (in + tape(from) <= room && tape(from) + state(from) + state(from + 1) <= room) {
      const double own = costs.forward(from) + costs.backward(from);
      if (from == to)
        take(own, from);
      else if (const double rest = best_[place(from + 1, to, left)]; rest >= 0)
        take(own + rest, from);
    }
    double advanced = 0;
    for (int next = from + 1; next <= to; ++next) {
      // Two states at a time on the way, the first one of which is there anyway.
      const int before = next - 1 > from ? state(next - 1) : 0;
      if (in + before + state(next) > room) break;
      advanced += costs.forward(next - 1);
      const double tail = best_[place(next, to, room - state(next))];
      const double head = best_[place(from, next - 1, room)];
      if (tail >= 0 && head >= 0) take(advanced + tail + head, next);
    }
  }

  // State `from` is there, and in hand.
  template <class Sink> constexpr void back(Sink& sink, int from, int to, int room) const {
    using enum plan_work;
    const int next = choice_[place(from, to, room)];
    if (next == from) {
      sink(plan_action{tape, from, from + 1});
      if (from < to) back(sink, from + 1, to, room - this->tape(from));
      sink(plan_action{reverse, from, from + 1});
      return;
    }
    sink(plan_action{advance, from, next});
    sink(plan_action{keep, next, next});
    back(sink, next, to, room - state(next));
    sink(plan_action{drop, next, next});
    sink(plan_action{load, from, from});
    back(sink, from, next - 1, room);
  }

  int room_ = -1;
  detail::numbered<int> state_, tape_;
  detail::numbered<double> best_;
  detail::numbered<int> choice_;
};

/// The plan of least time whose memory, counted as check_plan does, is at most `memory`. Sizes are
/// rounded up to one of `units` equal parts of it (exact where memory <= units): O(steps^3 * units)
/// work, steps^2 * units numbers held. Throws dimesh::error if steps or units are less than 1.
template <class Chain>
constexpr chain_plan plan_chain(const Chain& costs, int steps, long long memory, int units = 256) {
  return chain_plan(costs, steps, memory, units);
}

}  // namespace dimesh

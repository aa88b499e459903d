// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is a plan of recomputation legal, and what does it cost? Its actions are carried out on numbers.
//
//   constexpr plan_facts f = check_plan(revolve{1000, 10}, even_chain{});
//   f.fault == plan_fault::none, f.forward -> 4636, f.kept -> 10
//
// What is held at a time: states that are kept, in hand, or read by a taped step; what is taped,
// which includes the state that the step made; and the cotangent of one state, two in a reverse
// step.
#pragma once

#include <vector>

#include "dimesh/detail/numbered.hpp"
#include "dimesh/pipeline/recompute_plan.hpp"

namespace dimesh {

/// One step of a chain: times in any unit, sizes in any unit.
struct chain_step {
  double forward = 0, backward = 0;
  long long state = 0;  ///< what it reads
  long long tape = 0;  ///< what its backward reads beyond that, what it makes included
};

/// A chain of steps of all kinds. Anything with the same members will do for check_plan.
struct chain {
  std::vector<chain_step> all = {};
  long long last_state = 0;  ///< the size of what the last step makes
  double write = 0, read = 0;  ///< of a state to or from the disk
  constexpr double forward(int i) const { return at(i).forward; }
  constexpr double backward(int i) const { return at(i).backward; }
  constexpr long long tape(int i) const { return at(i).tape; }
  constexpr long long state(int i) const {
    return i == static_cast<int>(all.size()) ? last_state : at(i).state;
  }
  /// What each step takes there and back.
  constexpr std::vector<double> times() const {
    std::vector<double> both;
    for (const chain_step& s : all) both.push_back(s.forward + s.backward);
    return both;
  }

 private:
  constexpr const chain_step& at(int i) const { return all[static_cast<std::size_t>(i)]; }
};

/// A chain of equal steps.
struct even_chain {
  double forward_time = 1, backward_time = 2;
  long long state_size = 1, tape_size = 1;
  double write = 0, read = 0;
  constexpr double forward(int) const { return forward_time; }
  constexpr double backward(int) const { return backward_time; }
  constexpr long long tape(int) const { return tape_size; }
  constexpr long long state(int) const { return state_size; }
};

/// In which way a plan is wrong.
enum class plan_fault : signed char {
  none,
  out_of_range,  ///< a step or a state that the chain does not have
  state_not_in_hand,  ///< what an action begins with or keeps
  state_not_kept,  ///< loaded, or dropped, and not there
  kept_twice,  ///< in the same place
  step_not_taped,  ///< and gone back through
  step_taped_already,
  not_next,  ///< steps go back from the last to the first
  steps_left,  ///< that have not gone back at the end
  left_behind  ///< states that are still kept, or steps taped, at the end
};

struct plan_facts {
  plan_fault fault = plan_fault::none;
  int action = 0;  ///< how many came before the faulty one
  long long forward = 0;  ///< steps run, taped or not; each one at least once
  int kept = 0, on_disk = 0;  ///< states at a time, at most
  int writes = 0, reads = 0;  ///< of states, to and from the disk
  long long memory = 0;  ///< the most that is held at a time
  double time = 0;
  constexpr bool ok() const { return fault == plan_fault::none; }
};

namespace detail::pipeline {

/// Carries a plan out. Taped steps and kept states are flags.
template <class Chain> class plan_machine {
 public:
  constexpr plan_machine(const Chain& c, int steps)
      : chain_(c), steps_(steps), next_(steps), flags_(static_cast<std::size_t>(steps) + 1) {
    base_ = c.state(steps);  // the cotangent that comes first
    take(0);
  }
  constexpr void operator()(const plan_action& a) {
    if (!facts_.ok()) return;
    const plan_fault f = run(a);
    if (f != plan_fault::none)
      facts_.fault = f;
    else
      ++facts_.action;
  }
  constexpr plan_facts end() {
    if (!facts_.ok()) return facts_;
    for (const flags& f : flags_)
      if (f.taped || f.kept || f.on_disk) facts_.fault = plan_fault::left_behind;
    if (next_ > 0) facts_.fault = plan_fault::steps_left;
    return facts_;
  }

 private:
  struct flags {
    bool kept = false, on_disk = false, taped = false;
  };
  constexpr flags& at(int i) { return flags_[static_cast<std::size_t>(i)]; }
  constexpr bool in_tape(int i) { return i > 0 && at(i - 1).taped; }
  /// Whether a state takes room of its own.
  constexpr bool alone(int i) { return (at(i).kept || hand_ == i || at(i).taped) && !in_tape(i); }
  /// Changes something about the states i and i + 1, and what is held with it.
  template <class Change> constexpr void change(int i, const Change& f) {
    for (int j = i; j <= i + 1 && j <= steps_; ++j) base_ -= alone(j) ? chain_.state(j) : 0;
    f();
    for (int j = i; j <= i + 1 && j <= steps_; ++j) base_ += alone(j) ? chain_.state(j) : 0;
  }
  constexpr void look(long long more) {
    if (base_ + more > facts_.memory) facts_.memory = base_ + more;
  }
  constexpr void take(int i) {
    if (hand_ >= 0) change(hand_, [&] { hand_ = -1; });
    change(i, [&] { hand_ = i; });
    look(0);
  }

  constexpr plan_fault run(const plan_action& a) {
    const bool span = a.work <= plan_work::reverse;
    if (a.from < 0 || a.from > steps_ || (span && (a.to <= a.from || a.to > steps_)))
      return plan_fault::out_of_range;
    if (!span) return store(a);
    if (a.work == plan_work::reverse) return reverse(a);
    if (hand_ != a.from) return plan_fault::state_not_in_hand;
    for (int i = a.from; i < a.to; ++i) {
      ++facts_.forward;
      facts_.time += chain_.forward(i);
      if (a.work == plan_work::advance) {
        look(alone(i + 1) || in_tape(i + 1) ? 0 : chain_.state(i + 1));
      } else {
        if (at(i).taped) return plan_fault::step_taped_already;
        change(i, [&] { at(i).taped = true; });
        base_ += chain_.tape(i);
        look(0);
      }
      take(i + 1);
    }
    return plan_fault::none;
  }
  constexpr plan_fault reverse(const plan_action& a) {
    if (a.to != next_) return plan_fault::not_next;
    if (hand_ >= 0) change(hand_, [&] { hand_ = -1; });
    for (int i = a.to - 1; i >= a.from; --i) {
      if (!at(i).taped) return plan_fault::step_not_taped;
      look(chain_.state(i));  // the cotangent that it makes
      facts_.time += chain_.backward(i);
      base_ += chain_.state(i) - chain_.state(i + 1) - chain_.tape(i);
      change(i, [&] { at(i).taped = false; });
      next_ = i;
    }
    return plan_fault::none;
  }
  constexpr plan_fault store(const plan_action& a) {
    const bool disk = a.where == plan_level::disk;
    bool& there = disk ? at(a.from).on_disk : at(a.from).kept;
    if (a.work == plan_work::keep) {
      if (hand_ != a.from) return plan_fault::state_not_in_hand;
      if (there) return plan_fault::kept_twice;
      change(a.from, [&] { there = true; });
      int& now = disk ? disk_now_ : kept_now_;
      int& most = disk ? facts_.on_disk : facts_.kept;
      if (++now > most) most = now;
      if (disk) ++facts_.writes, facts_.time += chain_.write;
      return plan_fault::none;
    }
    if (a.work == plan_work::load) {
      if (!there && (disk || !(in_tape(a.from) || at(a.from).taped)))
        return plan_fault::state_not_kept;
      if (disk) ++facts_.reads, facts_.time += chain_.read;
      take(a.from);
      return plan_fault::none;
    }
    if (!there) return plan_fault::state_not_kept;
    change(a.from, [&] { there = false; });
    --(disk ? disk_now_ : kept_now_);
    return plan_fault::none;
  }

  const Chain& chain_;
  int steps_, next_;
  int hand_ = -1;  // the state in hand; -1: none
  int kept_now_ = 0, disk_now_ = 0;
  long long base_ = 0;
  numbered<flags> flags_;
  plan_facts facts_ = {};
};

}  // namespace detail::pipeline

/// Everything about a plan, for a chain of as many steps; or the first thing that is wrong with it.
template <RecomputePlan P, class Chain = even_chain>
constexpr plan_facts check_plan(const P& plan, const Chain& costs = {}) {
  detail::pipeline::plan_machine<Chain> machine(costs, plan.steps);
  plan.each([&machine](const plan_action& a) { machine(a); });
  return machine.end();
}

}  // namespace dimesh

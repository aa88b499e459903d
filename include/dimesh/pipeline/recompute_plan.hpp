// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a gradient go back through a chain whose states do not all fit? By a plan: a stream of
// actions that says what to keep, what to run again and when. Plans know nothing of tensors;
// whoever carries them out knows nothing of plans (check_plan.hpp carries them out on numbers).
//
//   cells{.steps = 6, .length = 3}.each(sink)
//     keep 0, advance 0-3, keep 3, tape 3-6, reverse 3-6, drop 3, load 0, tape 0-3, ...
//   sqrt_cells(100)        -> cells of ten steps: 2 sqrt(n) held, less than one forward pass more
//   actions_of(plan)       -> all of them, in a vector
//
// A chain has the states 0 to n; step i makes state i + 1 of state i. It begins with state 0 in
// hand.
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "dimesh/detail/words.hpp"

namespace dimesh {

enum class plan_work : signed char {
  advance,  ///< run the steps from..to - 1 and keep nothing: the state in hand becomes `to`
  tape,  ///< run them and keep all that their way back needs, which includes what they make
  reverse,  ///< go back through them, from the last to the first, and let go of what was taped
  keep,  ///< keep the state in hand, `from`, in `where`
  load,  ///< take the state `from` into the hand again; it stays where it is
  drop  ///< let go of it there
};

/// Where a state is kept.
enum class plan_level : signed char { memory, disk };

struct plan_action {
  plan_work work = plan_work::advance;
  int from = 0;
  int to = 0;  ///< one past the last step; of keep, load and drop: `from`
  plan_level where = plan_level::memory;
  friend constexpr bool operator==(const plan_action&, const plan_action&) = default;
};

namespace detail::pipeline {
struct any_sink {
  constexpr void operator()(const plan_action&) const {}
};

inline void refuse_plan(std::string_view plan, int n, std::string_view of, int least) {
  (words() << plan << ": " << n << " " << of << "; a plan has " << least << " at least").raise();
}
/// n, of which a plan needs some: with fewer it would end nowhere. Throws dimesh::error.
constexpr int at_least(int least, std::string_view plan, int n, std::string_view of) {
  if (n < least) refuse_plan(plan, n, of, least);
  return n;
}
}  // namespace detail::pipeline

/// A plan for a chain of `steps` steps: each(sink) calls sink(action) for one action after the
/// other.
template <class P>
concept RecomputePlan = requires(const P& p, detail::pipeline::any_sink sink) {
  { p.steps } -> std::convertible_to<int>;
  p.each(sink);
};

/// The actions of a plan, in order.
template <RecomputePlan P> constexpr std::vector<plan_action> actions_of(const P& plan) {
  std::vector<plan_action> all;
  plan.each([&all](const plan_action& a) { all.push_back(a); });
  return all;
}

/// Nothing is run twice, everything is held.
struct tape_all {
  int steps = 0;
  template <class Sink> constexpr void each(Sink&& sink) const {
    sink(plan_action{plan_work::tape, 0, steps});
    sink(plan_action{plan_work::reverse, 0, steps});
  }
};

/// Cells of `length` steps, the last one may be shorter: their first states are kept, and each cell
/// is run again when the gradient arrives. The last one is taped at once, unless `last_again` says
/// that its gradient comes later: so does GPipe, whose cell is a stage: cells{n, n, true} (Huang et
/// al. 2019, arXiv 1811.06965; Chen et al. 2016, arXiv 1604.06174). Both numbers are at least 1.
struct cells {
  int steps = 0;
  int length = 1;
  bool last_again = false;
  template <class Sink> constexpr void each(Sink&& sink) const {
    using enum plan_work;
    detail::pipeline::at_least(1, "cells", length, "steps a cell");
    const int last = (detail::pipeline::at_least(1, "cells", steps, "steps") - 1) / length * length;
    for (int at = 0; at <= last; at += length) {
      sink(plan_action{keep, at, at});
      if (at < last || last_again) sink(plan_action{advance, at, at == last ? steps : at + length});
    }
    for (int at = last; at >= 0; at -= length) {
      const int end = at == last ? steps : at + length;
      if (at < last || last_again) sink(plan_action{load, at, at});
      sink(plan_action{tape, at, end});
      sink(plan_action{reverse, at, end});
      sink(plan_action{drop, at, at});
    }
  }
};

/// Cells as long as there are many: the square root of `steps`, rounded up.
constexpr cells sqrt_cells(int steps) {
  int root = 1;
  while (root * root < steps) ++root;
  return {steps, root};
}

}  // namespace dimesh

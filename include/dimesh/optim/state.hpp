// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does an optimizer keep between steps, which a run that goes on must have? Its state says so,
// part by part: tensors, structs of them, counts. One of a program's own does likewise.
//
//   template <class P> struct slow_state {
//     P average{};
//     index_t steps = 0;
//     template <class S, class F> static void for_each_part(S& s, const F& f) {
//       f("average", s.average), f("steps", s.steps);
//     }
//   };
//   run.keep("slow", state)  -> "slow.average.w", ... and "slow.steps" of each checkpoint
#pragma once

namespace dimesh {

namespace detail {
/// Takes what one of those functions is called with. (A lambda in a concept, nvcc gets wrong.)
struct any_named {
  template <class T> constexpr void operator()(const char*, T&) const {}
};
}  // namespace detail

/// What says of which parts it is made: for_each_part(s, f) calls f(name, part) with each. Parts
/// are what training_run::keep takes (train/kept_state.hpp).
template <class S>
concept OptimizerState = requires(S& s) { S::for_each_part(s, detail::any_named{}); };

}  // namespace dimesh

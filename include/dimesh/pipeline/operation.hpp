// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a pipeline's schedule? For each rank the list of its operations, as a function: operation
// k of rank r. No table is kept, so a schedule is a few numbers, and a user's own one is a struct.
//
//   stage_operation{stage_work::forward, 3, 0}     the fourth micro-batch through the first stage
//   struct mine { int ranks, micros; ... stage_operation at(int rank, int k) const; };
//   PipelineSchedule<mine>                   -> true; check_schedule (check.hpp) tells if it runs
#pragma once

#include <concepts>

namespace dimesh {

/// What a stage does with a micro-batch. A backward pass is whole, or in two parts: the gradient of
/// the stage's input, which the stage before waits for, and that of its weights, which can wait.
enum class stage_work : signed char { forward, backward, backward_input, backward_weight };

/// One operation: a kind of work, a micro-batch and a stage, both counted from 0.
struct stage_operation {
  stage_work work = stage_work::forward;
  int micro = 0;
  int stage = 0;
  friend constexpr bool operator==(const stage_operation&, const stage_operation&) = default;
};

/// A schedule. `ranks` and `micros` (micro-batches) are numbers; stages() is how many stages a
/// micro-batch passes in turn; rank_of(stage, micro) tells which rank does it; rank r has length(r)
/// operations, and at(r, k) is the one that it does after k others.
///
/// It may have more: `bool fits() const`, false for numbers that it is not made for, and `int
/// slices`: that many micro-batches in a row are slices of one sequence, each of which needs what
/// the one before it left at every stage (slices.hpp).
template <class S>
concept PipelineSchedule = requires(const S& s, int n) {
  { s.ranks } -> std::convertible_to<int>;
  { s.micros } -> std::convertible_to<int>;
  { s.stages() } -> std::convertible_to<int>;
  { s.rank_of(n, n) } -> std::convertible_to<int>;
  { s.length(n) } -> std::convertible_to<int>;
  { s.at(n, n) } -> std::same_as<stage_operation>;
};

namespace detail::pipeline {
template <class S> constexpr bool schedule_fits(const S& s) {
  if (s.ranks < 1 || s.micros < 1 || s.stages() < 1) return false;
  if constexpr (requires { s.fits(); })
    return s.fits();
  else
    return true;
}
template <class S> constexpr int slices_of(const S& s) {
  if constexpr (requires { s.slices; })
    return s.slices;
  else
    return 1;
}
constexpr int least(int a, int b) { return a < b ? a : b; }
constexpr int most(int a, int b) { return a < b ? b : a; }
}  // namespace detail::pipeline

}  // namespace dimesh

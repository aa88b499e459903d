// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients that are clipped, and optimizers that are spread, with arguments of other kinds.
#include <dimesh/dimesh.hpp>
#include <dimesh/optim/clip.hpp>
#include <dimesh/optim/schedule.hpp>
#include <dimesh/optim/sharded.hpp>

#include "names.hpp"

using vector = dm::tensor<float, whole, hidden>;
using step = dm::value_and_gradient<vector, vector>;
using zero = dm::layout<pod, dm::spread<rows>>;

// mistake: steps_taken_wrongly__all_clipped
// expect: clip_by_global_norm: this is a value with its gradient; clip the second: clip_by_global_norm(step.gradient, 1.0)
// expect: wrong_arguments<dimesh::value_and_gradient<
#ifdef COMPILE_FAIL
void f(step& s) { dm::clip_by_global_norm(s, 1.0); }
#else
void f(step& s) { dm::clip_by_global_norm(s.gradient, 1.0); }
#endif

// mistake: steps_taken_wrongly__norm_first
// expect: clip_by_global_norm: the gradients come first, then the largest norm that they keep: clip_by_global_norm(step.gradient, 1.0)
// expect: wrong_arguments<double, dimesh::basic_tensor<
#ifdef COMPILE_FAIL
void f(step& s) { dm::clip_by_global_norm(1.0, s.gradient); }
#else
void f(step& s) { dm::clip_by_global_norm(s.gradient, 1.0); }
#endif

// mistake: steps_taken_wrongly__sharded_by_axis
// expect: sharded: a layout that spreads the state stands in the angle brackets, the optimizer in the parentheses: sharded<layout<pod, spread<rows>>>(adam{})
// expect: not_a_layout<rows>
#ifdef COMPILE_FAIL
auto f() { return dm::sharded<rows>(dm::adam{}); }
#else
auto f() { return dm::sharded<zero>(dm::adam{}); }
#endif

// mistake: steps_taken_wrongly__sharded_by_value
// expect: sharded: a layout that spreads the state stands in the angle brackets, the optimizer in the parentheses: sharded<layout<pod, spread<rows>>>(adam{})
// expect: not_a_layout<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
auto f() { return dm::sharded(zero{}, dm::adam{}); }
#else
auto f() { return dm::sharded<zero>(dm::adam{}); }
#endif

// mistake: steps_taken_wrongly__sharded_type
// expect: sharded: the optimizer is an object, and stands in the parentheses: sharded<layout<pod, spread<rows>>>(adam{})
// expect: wrong_arguments<dimesh::adam
#ifdef COMPILE_FAIL
auto f() { return dm::sharded<zero, dm::adam>(); }
#else
auto f() { return dm::sharded<zero>(dm::adam{}); }
#endif

// mistake: steps_taken_wrongly__schedule_for_rate
// expect: schedule: each step has a rate of its own; give it before the step: adam.rate = schedule(state.steps)
// expect: wrong_arguments<double>
// levels: 1
#ifdef COMPILE_FAIL
void f(dm::adam& o, const dm::warmup_cosine& rate, const dm::adam_state<vector>&) { o.rate = rate; }
#else
void f(dm::adam& o, const dm::warmup_cosine& rate, const dm::adam_state<vector>& s) {
  o.rate = rate(s);
  o.rate = rate(s.steps);
}
#endif

// mistake: steps_taken_wrongly__factor_first
// expect: rescale: the gradients come first, and change in place; then the factor: rescale(step.gradient, 0.5)
// expect: wrong_arguments<dimesh::detail::nothing<>
#ifdef COMPILE_FAIL
void f(step& s) { dm::rescale(0.5, s.gradient); }
#else
void f(step& s) { dm::rescale(s.gradient, 0.5); }
#endif

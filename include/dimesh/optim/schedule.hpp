// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How large is the rate at each step? A schedule is a function of the number of steps taken so far.
//
//   const warmup_cosine rate{.peak = 3e-4, .warmup = 200, .total = 10000, .last = 3e-5};
//   adam optimizer;
//   optimizer.rate = rate(state.steps);  optimizer(params, gradients, state);
#pragma once

#include <cmath>
#include <concepts>

#include "dimesh/dim.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/optim/state.hpp"

namespace dimesh {

namespace detail {
/// From peak / warmup at step 0 to peak at step warmup - 1, and 1 from there on.
constexpr double warmed_up(index_t step, index_t warmup) {
  return step + 1 < warmup ? static_cast<double>(step + 1) / static_cast<double>(warmup) : 1.0;
}
/// How much of the way from the end of the warm-up to the last step is done: 0 to 1.
constexpr double progress(index_t step, index_t warmup, index_t total) {
  if (step < warmup) return 0;
  if (step >= total) return 1;
  return static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
}

/// What one reads who gives a schedule where a rate is wanted.
template <class T> T rate_of_no_step() {
  static_assert(ok<std::conditional_t<std::is_same_v<T, double>, wrong_arguments<T>, no_fault>>,
                "schedule: each step has a rate of its own; give it before the step: adam.rate = "
                "schedule(state.steps)");
  return 0;
}
}  // namespace detail

/// What says by which numbers it is made: for_each_number(s, f) calls f(name, number) with each.
template <class S>
concept ScheduleOfNumbers = requires(S& s) { S::for_each_number(s, detail::any_named{}); };

/// The state of an optimizer: the rate of its next step.
template <class S>
concept CountsSteps = requires(const S& s) {
  { s.steps } -> std::convertible_to<index_t>;
  s.second;  // the average that every such state has
};

/// The same rate at each step, after a linear warm-up if there is one.
struct constant_rate {
  double rate = 1e-3;
  index_t warmup = 0;  ///< steps
  constexpr double operator()(index_t step) const { return rate * detail::warmed_up(step, warmup); }
  template <CountsSteps State> double operator()(const State& s) const { return (*this)(s.steps); }
  template <class S, class F> static void for_each_number(S& s, const F& f) {
    f("rate", s.rate), f("warmup", s.warmup);
  }
  template <std::same_as<double> T> operator T() const { return detail::rate_of_no_step<T>(); }
};

/// Linear warm-up to `peak`, then half a cosine down to `last` at step `total` (Loshchilov and
/// Hutter 2017, "SGDR", equation 5, without restarts), and `last` from there on.
struct warmup_cosine {
  double peak = 1e-3;
  index_t warmup = 0, total = 1;  ///< steps, the warm-up included
  double last = 0;
  double operator()(index_t step) const {
    if (step < warmup) return peak * detail::warmed_up(step, warmup);
    const double done = detail::progress(step, warmup, total);
    return last + (peak - last) * 0.5 * (1 + std::cos(3.14159265358979323846 * done));
  }
  template <CountsSteps State> double operator()(const State& s) const { return (*this)(s.steps); }
  template <class S, class F> static void for_each_number(S& s, const F& f) {
    f("peak", s.peak), f("warmup", s.warmup), f("total", s.total), f("last", s.last);
  }
  template <std::same_as<double> T> operator T() const { return detail::rate_of_no_step<T>(); }
};

/// Linear warm-up to `peak`, then a straight line down to `last` at step `total`.
struct warmup_linear {
  double peak = 1e-3;
  index_t warmup = 0, total = 1;  ///< steps, the warm-up included
  double last = 0;
  constexpr double operator()(index_t step) const {
    if (step < warmup) return peak * detail::warmed_up(step, warmup);
    return peak + (last - peak) * detail::progress(step, warmup, total);
  }
  template <CountsSteps State> double operator()(const State& s) const { return (*this)(s.steps); }
  template <class S, class F> static void for_each_number(S& s, const F& f) {
    f("peak", s.peak), f("warmup", s.warmup), f("total", s.total), f("last", s.last);
  }
  template <std::same_as<double> T> operator T() const { return detail::rate_of_no_step<T>(); }
};

/// Linear warm-up to `peak`, then falling with the square root of the step: peak * sqrt(warmup /
/// step) (Vaswani et al. 2017, section 5.3, where peak is (width * warmup)^-0.5).
struct warmup_inverse_sqrt {
  double peak = 1e-3;
  index_t warmup = 1;  ///< steps
  double operator()(index_t step) const {
    if (step + 1 < warmup) return peak * detail::warmed_up(step, warmup);
    const auto from = static_cast<double>(warmup < 1 ? 1 : warmup);
    return peak * std::sqrt(from / static_cast<double>(step + 1));
  }
  template <CountsSteps State> double operator()(const State& s) const { return (*this)(s.steps); }
  template <class S, class F> static void for_each_number(S& s, const F& f) {
    f("peak", s.peak), f("warmup", s.warmup);
  }
  template <std::same_as<double> T> operator T() const { return detail::rate_of_no_step<T>(); }
};

/// `rate`, times `factor` after every `every` steps (0: never).
struct step_decay {
  double rate = 1e-3;
  double factor = 0.1;
  index_t every = 1000;  ///< steps
  double operator()(index_t step) const {
    return rate * std::pow(factor, static_cast<double>(every > 0 ? step / every : 0));
  }
  template <CountsSteps State> double operator()(const State& s) const { return (*this)(s.steps); }
  template <class S, class F> static void for_each_number(S& s, const F& f) {
    f("rate", s.rate), f("factor", s.factor), f("every", s.every);
  }
  template <std::same_as<double> T> operator T() const { return detail::rate_of_no_step<T>(); }
};

}  // namespace dimesh

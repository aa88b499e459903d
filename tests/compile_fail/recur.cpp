// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps along a dim that cannot be.
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recur.hpp>

#include "names.hpp"

using series = dm::tensor<float, by_batch, batch, pixel, label>;
using state = dm::tensor<float, by_batch, batch, label>;
using weight = dm::tensor<float, whole, label>;
inline constexpr auto step = [](const auto& p, const auto& h, const auto& x) {
  const auto next = dm::tanh(h * p + x);
  return std::tuple{next, next};
};

// mistake: dim_not_in_tensor__recur
// expect: recur: an input lacks the dim of the steps; name one that all have, and pass what lacks it among the parameters
// expect: dim_not_in_tensor<hidden>
#ifdef COMPILE_FAIL
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<hidden>(step, w, h, x);
}
#else
auto f(const weight& w, const state& h, const series& x) { return dm::recur<pixel>(step, w, h, x); }
#endif

// mistake: dim_is_split__recur
// expect: recur: the dim of the steps is split, and each step needs the one before it; whole<dim> it, or split another
// expect: dim_is_split<batch, rows>
using row = dm::tensor<float, whole, pixel, label>;
#ifdef COMPILE_FAIL
auto f(const weight& w, const row& h, const series& x) {
  return dm::recur<batch>({}, step, w, h, x);
}
#else
auto f(const weight& w, const row& h, const series& x) {
  return dm::recur<batch>({}, step, w, h, dm::whole<batch>(x));
}
#endif

// mistake: dim_has_halo__recur
// expect: recur: the blocks of the dim carry halos; call it before halo_exchange
// expect: dim_has_halo<pixel>
#ifdef COMPILE_FAIL
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, step, w, h, dm::halo_exchange<1, pixel>(x));
}
#else
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, step, w, h, x);
}
#endif

// mistake: function_not_callable_with__recur
// expect: recur: the step cannot be called with the parameters, the carry and an element of each input; take them as const auto&, and let operator() be const
// expect: function_not_callable_with
#ifdef COMPILE_FAIL
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>(
      {}, [](const auto& c, const auto& v) { return std::tuple{c, v}; }, w, h, x);
}
#else
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, step, w, h, x);
}
#endif

// mistake: function_gives_no_tensor__recur
// expect: recur: the step returns a std::tuple of the next carry and a tensor to put out
// expect: function_gives_no_tensor
#ifdef COMPILE_FAIL
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>(
      {}, [](const auto&, const auto& c, const auto& v) { return c + v; }, w, h, x);
}
#else
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, step, w, h, x);
}
#endif

// mistake: structs_differ__recur
// The layout of the carry changes from step to step.
// expect: recur: the step gives another carry than it takes, by type or layout; let it relayout, complete or cast what it gives, or begin with what it gives
// expect: structs_differ
inline constexpr auto gathering = [](const auto& p, const auto& h, const auto& x) {
  const auto next = dm::tanh(h * p + x);
  return std::tuple{dm::whole<batch>(next), next};
};
#ifdef COMPILE_FAIL
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, gathering, w, h, x);
}
#else
auto f(const weight& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, step, w, h, x);
}
#endif

// mistake: recorded_tensor_not_passed__recur
// expect: recur: the step uses a recorded tensor that is not among its arguments; pass it among the parameters
// expect: recorded_tensor_not_passed
#ifdef COMPILE_FAIL
auto f(const dm::tracked_tensor<weight>& w, const state& h, const series& x) {
  const auto uses = [&w](const auto&, const auto& c, const auto& v) {
    const auto next = c * w + v;
    return std::tuple{next, next};
  };
  return dm::recur<pixel>({}, uses, 0, h, x);
}
#else
auto f(const dm::tracked_tensor<weight>& w, const state& h, const series& x) {
  return dm::recur<pixel>({}, step, w, h, x);
}
#endif

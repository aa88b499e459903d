// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Costs, gradients and operations that dimesh.hpp does not include.
// alone: what is included is the point
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using bars = dm::tensor<float, dm::gradient<by_batch>, batch, hidden>;
using keys = dm::tensor<float, by_batch, batch, pixel, hidden>;
using queries = dm::tensor<float, by_batch, batch, label, hidden>;
struct total {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::complete(dm::sum(x));
  }
};

// mistake: cost_of
// expect: cost_of: has a header of its own; #include <dimesh/grad/cost.hpp>
// expect: header_missing<
// lines: 11
#ifdef COMPILE_FAIL
constexpr auto cost = dm::cost_of<total, dm::tensor<float, dm::shaped<by_batch>, batch, hidden>>;
static_assert(cost.bytes<rows> <= 64 && cost.flops <= 4096);
#else
#include <dimesh/grad/cost.hpp>
constexpr auto cost = dm::cost_of<total, dm::tensor<float, dm::shaped<by_batch>, batch, hidden>>;
static_assert(cost.bytes<rows> <= 64 && cost.flops <= 4096);
#endif

// mistake: count
// expect: count: has a header of its own; #include <dimesh/grad/cost.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::count(total{}, x).bytes<rows>(); }
#else
#include <dimesh/grad/cost.hpp>
auto f(const matrix& x) { return dm::count(total{}, x).bytes<rows>(); }
#endif

// mistake: vjp
// expect: vjp: has a header of its own; #include <dimesh/grad/vjp.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x, const bars& ybar) {
  auto [y, back] = dm::vjp([](const auto& v) { return dm::tanh(v); }, x);
  return back(ybar);
}
#else
#include <dimesh/grad/vjp.hpp>
auto f(const matrix& x, const bars& ybar) {
  auto [y, back] = dm::vjp([](const auto& v) { return dm::tanh(v); }, x);
  return back(ybar);
}
#endif

// mistake: jvp
// expect: jvp: has a header of its own; #include <dimesh/grad/jvp.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  auto [y, moves] = dm::jvp([](const auto& v) { return dm::tanh(v); }, x, x);
  return y + moves;
}
#else
#include <dimesh/grad/jvp.hpp>
auto f(const matrix& x) {
  auto [y, moves] = dm::jvp([](const auto& v) { return dm::tanh(v); }, x, x);
  return y + moves;
}
#endif

// mistake: recompute
// expect: recompute: has a header of its own; #include <dimesh/grad/recompute.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::recompute([](const auto& v) { return dm::tanh(v); })(x) * 2.0f;
}
#else
#include <dimesh/grad/recompute.hpp>
auto f(const matrix& x) {
  return dm::recompute([](const auto& v) { return dm::tanh(v); })(x) * 2.0f;
}
#endif

// mistake: attention
// expect: attention: has a header of its own; #include <dimesh/op/attention.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const queries& q, const keys& k) { return dm::attention<label, pixel, hidden>(q, k, k); }
#else
#include <dimesh/op/attention.hpp>
auto f(const queries& q, const keys& k) { return dm::attention<label, pixel, hidden>(q, k, k); }
#endif

// mistake: var
// expect: var: has a header of its own; #include <dimesh/op/reductions.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::var<hidden>(x); }
#else
#include <dimesh/op/reductions.hpp>
auto f(const matrix& x) { return dm::var<hidden>(x); }
#endif

// mistake: masked_mean
// expect: masked_mean: has a header of its own; #include <dimesh/op/masked_mean.hpp>
// expect: header_missing<
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::masked_mean(x, x > 0); }
#else
#include <dimesh/op/masked_mean.hpp>
auto f(const matrix& x) { return dm::masked_mean(x, x > 0); }
#endif

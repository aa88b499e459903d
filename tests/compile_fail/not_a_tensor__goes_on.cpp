// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What goes from cell to cell, from slice to slice and from step to step is made by its type.
#include <array>
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/chain_costs.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/recompute_by_plan.hpp>
#include <dimesh/pipeline/revolve.hpp>
#include <dimesh/pipeline/run_plan.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <dimesh/pipeline/slices.hpp>
#include <vector>

namespace dm = dimesh;
struct hidden : dm::dim<4> {};
struct stage : dm::axis<2> {};
struct pod : dm::mesh<stage> {};
template <int K> using there = dm::layout<pod, dm::placed<stage, K>>;
template <int K> using weight = dm::tensor<float, there<K>, hidden>;
constexpr auto square = [](const auto& y) { return dm::sum(y * y); };
constexpr auto last = [](const auto& w, const auto& x) { return w * x[0] + x[1]; };

// mistake: not_a_tensor__cells
// expect: pipeline: what cells get, give or hand on has a part that is no tensor, or a vector, which other ranks cannot make; use arrays, and tensors for numbers
// expect: not_a_tensor<std::vector<
constexpr auto first = [](const auto& w, const auto& x) {
  using result = std::remove_cvref_t<decltype(w * x)>;
#ifdef COMPILE_FAIL
  return std::vector<result>{w * x, w + x};
#else
  return std::array<result, 2>{w * x, w + x};
#endif
};
auto f(const std::tuple<weight<0>, weight<1>>& w, const weight<0>& x) {
  const auto net = dm::pipeline<stage>(dm::cell<0>(first), dm::cell<1>(last));
  return net.value_and_grad(dm::gpipe{2, 2}, w, [&x](int) { return x; }, square);
}

// mistake: not_a_tensor__inputs
// expect: pipeline: what cells get, give or hand on has a part that is no tensor, or a vector, which other ranks cannot make; use arrays, and tensors for numbers
// expect: not_a_tensor<int>
auto f(const std::tuple<weight<0>>& w, const weight<0>& x) {
  const auto times = [](const auto& v, const auto& in) { return v * std::get<0>(in); };
  const auto net = dm::pipeline<stage>(dm::cell<0>(times));
#ifdef COMPILE_FAIL
  const auto inputs = [&x](int i) { return std::tuple{x, i}; };
#else
  const auto inputs = [&x](int) { return std::tuple{x}; };
#endif
  return net.value_and_grad(dm::gpipe{1, 2}, w, inputs, square);
}

// mistake: not_a_tensor__slices
// expect: pipeline: what cells get, give or hand on has a part that is no tensor, or a vector, which other ranks cannot make; use arrays, and tensors for numbers
// expect: not_a_tensor<std::vector<
#ifdef COMPILE_FAIL
using caches = std::vector<weight<0>>;
#else
using caches = std::array<weight<0>, 1>;
#endif
auto f(const std::tuple<weight<0>>& w, const weight<0>& x) {
  const auto slice = [](const auto& v, const auto& in, const auto& past) {
    return std::pair(v * in + past[0], past);
  };
  const auto begin = [&x](int) { return caches{x}; };
  const auto net = dm::pipeline<stage>(dm::cell<0>(dm::carrying(slice, begin)));
  return net.value_and_grad(dm::sliced{1, 4, 2}, w, [&x](int) { return x; }, square);
}

// mistake: not_a_tensor__state
// expect: recompute: a state has a part that is no tensor, or a vector, which a plan does not keep; use arrays, and tensors for numbers
// expect: not_a_tensor<std::vector<
using recorded = dm::tracked_tensor<weight<0>>;
#ifdef COMPILE_FAIL
using state = std::vector<recorded>;
#else
using state = std::array<recorded, 1>;
#endif
auto f(const recorded& w, const state& x) {
  const auto step = [](const auto& v, const auto& in) {
    auto next = in;
    next[0] = in[0] * v;
    return next;
  };
  return dm::recompute(dm::revolve{6, 2}, step)(w, x);
}

// mistake: not_a_tensor__state_of_gradient
// expect: value_and_grad_by: a state has a part that is no tensor, or a vector, which a plan does not keep; use arrays, and tensors for numbers
// expect: not_a_tensor<std::vector<
#ifdef COMPILE_FAIL
using state = std::vector<weight<0>>;
#else
using state = std::array<weight<0>, 1>;
#endif
constexpr auto step = [](const auto& v, const auto& in) {
  auto next = in;
  next[0] = in[0] * v;
  return next;
};
auto f(const weight<0>& w, const state& x) {
  return dm::value_and_grad_by(dm::revolve{6, 2}, step, w, x,
                               [](const auto& y) { return dm::sum(y[0]); });
}

// mistake: not_a_tensor__state_of_chain
// expect: chain: a state has a part that is no tensor, or a vector, which a plan does not keep; use arrays, and tensors for numbers
// expect: not_a_tensor<std::vector<
#ifdef COMPILE_FAIL
using state = std::vector<weight<0>>;
#else
using state = std::array<weight<0>, 1>;
#endif
constexpr auto step = [](const auto& v, const auto& in) {
  auto next = in;
  next[0] = in[0] * v;
  return next;
};
auto f(const weight<0>& w, const state& x) { return dm::counted_chain(step, w, x, 6); }

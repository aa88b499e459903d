// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers of which one takes its weights alone.
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/chain_costs.hpp>
#include <dimesh/pipeline/pipeline.hpp>
#include <dimesh/pipeline/recompute_by_plan.hpp>
#include <dimesh/pipeline/revolve.hpp>
#include <dimesh/pipeline/run_plan.hpp>

#include "names.hpp"

using weight = dm::tensor<double, whole, hidden>;
using input = dm::tensor<double, whole, batch, hidden>;
using weights = std::tuple<weight, weight>;
struct scale {
  template <class W, class X> auto operator()(const W& w, const X& x) const { return x * w; }
};
struct no_layer {
  template <class W> auto operator()(const W& w) const { return w; }
};
inline constexpr dm::revolve plan{2, 1};

// mistake: cell_not_callable_with__in_turn
// expect: in_turn: a layer cannot be called with its weights and what the layer before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#ifdef COMPILE_FAIL
inline constexpr auto layers = dm::in_turn(scale{}, no_layer{});
#else
inline constexpr auto layers = dm::in_turn(scale{}, scale{});
#endif
auto f(const weights& w, const input& x) { return layers(w, x); }

// mistake: cell_not_callable_with__each_of
// expect: each_of: a layer cannot be called with its weights and what it is given; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#ifdef COMPILE_FAIL
inline constexpr auto layers = dm::each_of(no_layer{});
#else
inline constexpr auto layers = dm::each_of(scale{});
#endif
auto f(const std::array<weight, 3>& w, const input& x) { return layers(w, x); }

// mistake: cell_not_callable_with__recompute
// expect: recompute: a layer cannot be called with its weights and what the layer before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#ifdef COMPILE_FAIL
inline constexpr auto layers = dm::in_turn(scale{}, no_layer{});
#else
inline constexpr auto layers = dm::in_turn(scale{}, scale{});
#endif
auto f(const weights& w, const input& x) { return dm::recompute(plan, layers)(w, x); }

// mistake: cell_not_callable_with__value_and_grad_by
// The first layer, and what the second would be given is unknown.
// expect: value_and_grad_by: a layer cannot be called with its weights and what the layer before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#ifdef COMPILE_FAIL
inline constexpr auto layers = dm::in_turn(no_layer{}, scale{});
#else
inline constexpr auto layers = dm::in_turn(scale{}, scale{});
#endif
inline constexpr auto loss = [](const auto& y) { return dm::sum(y * y); };
auto f(const weights& w, const input& x) { return dm::value_and_grad_by(plan, layers, w, x, loss); }

// mistake: cell_not_callable_with__chain
// expect: chain: a layer cannot be called with its weights and what the layer before it gives; take both as const auto&, and return a tensor
// expect: cell_not_callable_with<
#ifdef COMPILE_FAIL
inline constexpr auto layers = dm::in_turn(scale{}, no_layer{});
#else
inline constexpr auto layers = dm::in_turn(scale{}, scale{});
#endif
auto f(const weights& w, const input& x) { return dm::counted_chain(layers, w, x); }

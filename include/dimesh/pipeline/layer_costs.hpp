// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does each layer of a sequence cost? The ledger counts it on shapes, while compiling where
// all extents are static: what partition (partition.hpp) cuts by.
//
//   constexpr auto costs = layer_costs(x, std::tuple(w0, w1, w2), f0, f1, f2);    // all shapes
//   constexpr auto bounds = partition<2>(costs);
//   pipeline_of_layers<stage, bounds>(f0, f1, f2)
#pragma once

#include <array>

#include "dimesh/grad/cost.hpp"
#include "dimesh/pipeline/layers.hpp"

namespace dimesh {

namespace detail::pipeline {
template <std::size_t I, class X, class Weights, class F, class... More, std::size_t N>
constexpr void count_layer(tally& t, std::array<index_t, N>& costs, const X& x,
                           const Weights& weights, const F& f, const More&... more) {
  const index_t before = t.flops;
  const auto y = run_layer(f, counted(std::get<I>(weights), &t), x, 0);
  costs[I] = t.flops - before;
  if constexpr (sizeof...(More) > 0) count_layer<I + 1>(t, costs, y, weights, more...);
}
}  // namespace detail::pipeline

/// The floating-point operations of each layer's way forward, of a micro-batch x, on the rank with
/// the largest blocks; the way back takes about twice as many. x and the weights, one element of a
/// tuple (or array) for each layer, are tensors or shapes; nothing is computed.
template <class X, class Weights, class... F>
  requires(sizeof...(F) >= 1 && std::tuple_size_v<Weights> == sizeof...(F))
constexpr std::array<index_t, sizeof...(F)> layer_costs(const X& x, const Weights& weights,
                                                        const F&... f) {
  std::array<index_t, sizeof...(F)> costs{};
  detail::tally t;
  detail::pipeline::count_layer<0>(t, costs, detail::counted(x, &t), weights, f...);
  return costs;
}

}  // namespace dimesh

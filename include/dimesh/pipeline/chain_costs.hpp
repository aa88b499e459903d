// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does each layer of a sequence take, there and back? What plans of recomputation and the cuts
// between stages are made by: counted by the ledger, or measured by a clock.
//
//   const chain costs = measured_chain(in_turn(f, each_of(g), h), weights, x);
//   plan_chain(costs, n, memory)                the fastest plan in so many bytes (chain_plan.hpp)
//   partition(costs.times(), 4)                 the best cells (partition.hpp)
//   counted_chain(layers, weights, x)           times in floating-point operations
//
// Sizes are bytes of the tensors that a rank holds, of the rank that holds most.
#pragma once

#include <algorithm>

#include "dimesh/ledger/timeline.hpp"
#include "dimesh/pipeline/check_plan.hpp"
#include "dimesh/pipeline/layer_chain.hpp"
#include "dimesh/pipeline/shape_cells.hpp"

namespace dimesh {

namespace detail::pipeline {

inline index_t bytes_of(const cores& all) {
  index_t sum = 0;
  for (const tensor_core& one : all) sum += one.bytes();
  return sum;
}
/// Cotangents of what a cell gave, for its way back.
inline cores unit_bars(const cell_run& r, tally* t) {
  cores bars;
  for (const tensor_core& y : r.y) {
    if (!y.facts->has_gradient) continue;
    tensor_core& bar = bars.emplace_back(y.facts->dual);
    zero_cotangent(bar, y);
    if (t != nullptr) bar.count = t;
  }
  return bars;
}
inline cores plain_results(const cell_run& r) {
  cores y = r.y;
  for (tensor_core& one : y) one.record = nullptr;
  return y;
}

/// Layer after layer on shapes.
inline dimesh::chain count_chain(std::span<cell_base* const> cells, const cores& first) {
  dimesh::chain c;
  tally t;
  t.takes_captured = true;
  const shape_weights here(cells, t);
  cores x = as_shapes(first, &t);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const index_t begun = t.flops, held = t.live;
    chain_step& step = c.all.emplace_back();
    step.state = bytes_of(x);
    cell_run r(*cells[i], x, static_cast<int>(i), true, true);
    step.forward = static_cast<double>(t.flops - begun);
    step.tape = t.live - held;
    x = as_shapes(plain_results(r), &t);
    cores bars = unit_bars(r, &t);
    const index_t forward = t.flops;
    r.seed(bars, cells[i]->sums);
    r.backward(cells[i]->sums);
    step.backward = static_cast<double>(t.flops - forward);
    for (tensor_core& one : cells[i]->sums) one = tensor_core{};
  }
  c.last_state = bytes_of(x);
  return c;
}

/// The times of a chain by the clock, the least of some runs each, none of which counts as a run
/// where running moments are kept.
inline void time_chain(dimesh::chain& c, std::span<cell_base* const> cells, cores x, int runs) {
  const auto now = [] {
    Kokkos::fence();
    return timeline::now();
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    chain_step& step = c.all[i];
    cores y;
    for (int run = 0; run < runs; ++run) {
      const runs_again here;
      const double begin = now();
      cell_run r(*cells[i], x, static_cast<int>(i), true, true);
      const double there = now();
      y = plain_results(r);
      cores bars = unit_bars(r, nullptr);
      const double turn = now();
      r.seed(bars, cells[i]->sums);
      r.backward(cells[i]->sums);
      const double end = now();
      for (tensor_core& one : cells[i]->sums) one = tensor_core{};
      step.forward = run == 0 ? there - begin : std::min(step.forward, there - begin);
      step.backward = run == 0 ? end - turn : std::min(step.backward, end - turn);
    }
    x = std::move(y);
  }
}

/// The slowest and the largest of all ranks: all of them make the same plan.
inline void agree_on_chain(dimesh::chain& c, const tensor_core& on) {
  std::vector<double> all{static_cast<double>(c.last_state)};
  for (const chain_step& s : c.all)
    for (const double one : {s.forward, s.backward, double(s.state), double(s.tape)})
      all.push_back(one);
  const communicator& everybody = on.grid->along((1u << on.facts->layout.axes) - 1);
  const waiting here("measured_chain");
  check(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX,
                      everybody.handle()),
        "measured_chain");
  std::size_t at = 0;
  c.last_state = static_cast<long long>(all[at++]);
  for (chain_step& s : c.all) {
    s.forward = all[at++], s.backward = all[at++];
    s.state = static_cast<long long>(all[at++]), s.tape = static_cast<long long>(all[at++]);
  }
}

/// Says what is wrong with layers.
template <class Chain> constexpr bool chain_fits() {
  using fault = typename Chain::fault;
  constexpr bool repeats = !ok<fault> || Chain::repeats;
  static_assert(ok<only<fault, not_a_tensor>>,
                "chain: a state has a part that is no tensor, or a vector, which a plan does not "
                "keep; use arrays, and tensors for numbers");
  static_assert(ok<layers_fault<fault>>,
                "chain: a layer cannot be called with its weights and what the layer before it "
                "gives; take both as const auto&, and return a tensor");
  static_assert(repeats,
                "chain: a step that is repeated, or one of layers of one form, gives a tensor of "
                "another type than it takes; relayout its result");
  return ok<fault> && repeats;
}
template <class X> cores cores_in(const X& x) {
  cores all;
  const core_list<X> from(x);
  for (int i = 0; i < from.size; ++i) all.push_back(*from.at[i]);
  return all;
}

}  // namespace detail::pipeline

/// Floating-point operations and bytes of each layer, from an input x (each_of, in_turn; or a step,
/// which is repeated `steps` times). Nothing is computed or sent. Of the first rank, whose blocks
/// are the largest.
template <class F, class W, class X>
chain counted_chain(const F& layers, const W& weights, const X& x, int steps = 1) {
  using chain_type = detail::pipeline::typed_chain<F, W, X>;
  if constexpr (detail::pipeline::chain_fits<chain_type>()) {
    const chain_type all(layers, weights, steps);
    return detail::pipeline::count_chain(all.cells, detail::pipeline::cores_in(x));
  } else {
    return {};
  }
}

/// Seconds and bytes of each layer: every one runs `runs` times, there and back, and the slowest
/// rank counts. Every rank of the grid calls it and gets the same numbers; it communicates as the
/// layers do, and an all-reduce of five numbers a layer.
template <class F, class W, class X>
chain measured_chain(const F& layers, const W& weights, const X& x, int steps = 1, int runs = 3) {
  using chain_type = detail::pipeline::typed_chain<F, W, X>;
  if constexpr (detail::pipeline::chain_fits<chain_type>()) {
    chain costs = counted_chain(layers, weights, x, steps);
    const chain_type all(layers, weights, steps);
    const detail::pipeline::cores first = detail::pipeline::cores_in(x);
    detail::pipeline::time_chain(costs, all.cells, first, std::max(runs, 1));
    detail::pipeline::agree_on_chain(costs, first.at(0));
    return costs;
  } else {
    return {};
  }
}

}  // namespace dimesh

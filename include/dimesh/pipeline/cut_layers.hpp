// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which cells does a sequence of layers make? As many as there are stages, cut where `partition`
// says: by costs that the ledger counts while compiling, or that were measured and written down.
//
//   constexpr auto bounds = partition<2>(std::array{4.0, 1.0, 1.0, 2.0});     // {0, 1, 4}
//   pipeline_of_layers<stage, bounds>(f0, f1, f2, f3)
//     -> pipeline<stage>(cell<0>(in_turn(f0)), cell<1>(in_turn(f1, f2, f3)))
//   weights: a tuple of tuples, as the cells are cut
//   pipeline_of_layers<stage, bounds, places_of<zb_v{2, 8}>()>(f0, ...)     where ZB-V has cells
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "dimesh/layout/fault.hpp"
#include "dimesh/pipeline/layers.hpp"
#include "dimesh/pipeline/operation.hpp"

namespace dimesh {

template <class A, class... Cell> class pipeline_of;

namespace detail::pipeline {
/// Layers number From to From + sizeof...(I) - 1, one after the other, at coordinate K.
template <index_t K, std::size_t From, class Layers, std::size_t... I>
constexpr auto cell_of_layers(const Layers& all, std::index_sequence<I...>) {
  return dimesh::cell<K>(in_turn(std::get<From + I>(all)...));
}
/// Cell k at coordinate k, of as many as there are between so many bounds.
template <std::size_t Bounds> constexpr auto places_in_turn() {
  std::array<int, Bounds - 1> places{};
  for (std::size_t k = 0; k + 1 < Bounds; ++k) places[k] = static_cast<int>(k);
  return places;
}
/// Cell K of those that the bounds say.
template <auto Bounds, auto Places, std::size_t K, class Layers>
constexpr auto cell_between(const Layers& all) {
  constexpr auto from = static_cast<std::size_t>(Bounds[K]);
  constexpr auto to = static_cast<std::size_t>(Bounds[K + 1]);
  return cell_of_layers<static_cast<index_t>(Places[K]), from>(
      all, std::make_index_sequence<to - from>());
}
/// Do they ascend from 0 to the number of layers?
template <class Bounds> constexpr bool cut_layers(const Bounds& bounds, int layers) {
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k)
    if (bounds[k] >= bounds[k + 1]) return false;
  return bounds.front() == 0 && bounds.back() == layers;
}
template <auto Bounds, int Layers> constexpr auto find_bounds_fault() {
  return []<std::size_t... K>(std::index_sequence<K...>) {
    using wrong = bounds_not_of_layers<cell_bounds<Bounds[K]...>, Layers>;
    return tag<std::conditional_t<cut_layers(Bounds, Layers), no_fault, wrong>>{};
  }(std::make_index_sequence<Bounds.size()>());
}
template <auto Bounds, class... F>
using bounds_fault =
    typename decltype(find_bounds_fault<Bounds, static_cast<int>(sizeof...(F))>())::type;
}  // namespace detail::pipeline

/// Where a schedule has its stages: the coordinates of as many cells.
template <auto S>
  requires PipelineSchedule<decltype(S)>
constexpr auto places_of() {
  std::array<int, static_cast<std::size_t>(S.stages())> places{};
  for (int stage = 0; stage < S.stages(); ++stage)
    places[static_cast<std::size_t>(stage)] = S.rank_of(stage, 0);
  return places;
}

/// The cells of a sequence of layers as a tuple, cell k at coordinate Places[k], as a rule k.
/// Bounds: what partition<K>(costs) gives, for as many costs as layers.
template <auto Bounds, auto Places = detail::pipeline::places_in_turn<Bounds.size()>(), class... F>
  requires(Bounds.size() >= 2 && Places.size() + 1 == Bounds.size())
constexpr auto cells_of_layers(const F&... f) {
  using fault = detail::pipeline::bounds_fault<Bounds, F...>;
  static_assert(ok<fault>,
                "cells_of_layers: bounds of cells do not ascend from 0 to the number of layers; "
                "take what partition<cells>(costs) gives for the costs of all layers");
  if constexpr (ok<fault>) {
    const std::tuple<F...> all(f...);
    return [&all]<std::size_t... K>(std::index_sequence<K...>) {
      return std::make_tuple(detail::pipeline::cell_between<Bounds, Places, K>(all)...);
    }(std::make_index_sequence<Bounds.size() - 1>());
  } else {
    return poison{};
  }
}

/// A pipeline along axis A of these cells (with pipeline.hpp).
template <class A, auto Bounds, auto Places = detail::pipeline::places_in_turn<Bounds.size()>(),
          class... F>
  requires(Bounds.size() >= 2 && Places.size() + 1 == Bounds.size())
constexpr auto pipeline_of_layers(const F&... f) {
  const auto cells = cells_of_layers<Bounds, Places>(f...);
  if constexpr (ok<detail::pipeline::bounds_fault<Bounds, F...>>)
    return std::apply(
        [](const auto&... c) { return pipeline_of<A, std::decay_t<decltype(c)>...>(c...); }, cells);
  else
    return cells;
}

}  // namespace dimesh

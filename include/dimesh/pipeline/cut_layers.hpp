// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which cells does a sequence of layers make? As many as there are stages, cut where `partition`
// says: by costs that the ledger counts while compiling, or that were measured and written down.
//
//   constexpr auto bounds = partition<2>(std::array{4.0, 1.0, 1.0, 2.0});     // {0, 1, 4}
//   pipeline_of_layers<stage, bounds>(f0, f1, f2, f3)
//     -> pipeline<stage>(cell<0>(in_turn(f0)), cell<1>(in_turn(f1, f2, f3)))
//   weights: a tuple of tuples, as the cells are cut
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "dimesh/pipeline/layers.hpp"

namespace dimesh {

template <class A, class... Cell> class pipeline_of;

namespace detail::pipeline {
/// Layers number From to From + sizeof...(I) - 1, one after the other, at coordinate K.
template <index_t K, std::size_t From, class Layers, std::size_t... I>
constexpr auto cell_of_layers(const Layers& all, std::index_sequence<I...>) {
  return dimesh::cell<K>(in_turn(std::get<From + I>(all)...));
}
/// Cell K of those that the bounds say.
template <auto Bounds, std::size_t K, class Layers> constexpr auto cell_between(const Layers& all) {
  constexpr auto from = static_cast<std::size_t>(Bounds[K]);
  constexpr auto to = static_cast<std::size_t>(Bounds[K + 1]);
  return cell_of_layers<static_cast<index_t>(K), from>(all, std::make_index_sequence<to - from>());
}
}  // namespace detail::pipeline

/// The cells of a sequence of layers, cell k at coordinate k, as a tuple. Bounds: what
/// partition<K>(costs) gives, for as many costs as layers.
template <auto Bounds, class... F>
  requires(Bounds.size() >= 2 && Bounds.back() == static_cast<int>(sizeof...(F)))
constexpr auto cells_of_layers(const F&... f) {
  const std::tuple<F...> all(f...);
  return [&all]<std::size_t... K>(std::index_sequence<K...>) {
    return std::make_tuple(detail::pipeline::cell_between<Bounds, K>(all)...);
  }(std::make_index_sequence<Bounds.size() - 1>());
}

/// A pipeline along axis A of these cells (with pipeline.hpp).
template <class A, auto Bounds, class... F>
  requires(Bounds.size() >= 2 && Bounds.back() == static_cast<int>(sizeof...(F)))
constexpr auto pipeline_of_layers(const F&... f) {
  return std::apply(
      [](const auto&... c) { return pipeline_of<A, std::decay_t<decltype(c)>...>(c...); },
      cells_of_layers<Bounds>(f...));
}

}  // namespace dimesh

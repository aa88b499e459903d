// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order does a kernel walk its nest, on which processor? Row by row: a kernel is a
// function object `row(length, operands...)`, given operands that point at a row's first element.
//
//   sweep<Space>(nest, cut, row, out, in...)
//
// Host: nested loops; tiles where some operand is transposed; with several threads, the group
// `cut` goes to the threads in pieces (-1: one thread). Device: rows of length one, all at once.
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/nest.hpp"
#include "dimesh/local/tile.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <tuple>

namespace dimesh::local {

#ifdef DIMESH_TEST_SPACE  // tests name a space of theirs: tests/support/shuffled.hpp
using default_space = DIMESH_TEST_SPACE;
#else
using default_space = Kokkos::DefaultExecutionSpace;
#endif

namespace detail {

template <class Space>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

/// Is x contiguous along group U and strided along the rows?
template <int U, int G, Operand X>
inline constexpr bool is_across =
    U >= 0 && U < G - 1 && X::kind(U) == step::unit && X::inner == step::strided;

/// The group that transposed operands are contiguous in; -1 if no operand is transposed.
template <int G, class... X> constexpr int across_group() {
  int found = -1;
  for (int u = 0; u < G - 1; ++u) {
    const bool here = ((X::kind(u) == step::unit && X::inner == step::strided) || ...);
    if (here && found < 0) found = u;
  }
  return found;
}

/// Long tiles keep the operands that are not transposed streaming; a copy takes 16 KiB.
inline constexpr index_t tile_rows = 16;
template <class... T>
inline constexpr index_t tile_cols = 1024 / static_cast<index_t>(std::max({sizeof(T)...}));

/// A tile of x, (tile_rows, Cols): of a transposed operand a copy the right way round, which
/// goes back when the tile is done; of any other the operand itself.
template <int U, int G, index_t Cols, class X> struct staged {
  X x;
  KOKKOS_FORCEINLINE_FUNCTION staged(const X& at, index_t, index_t) : x(at) {}
  KOKKOS_FORCEINLINE_FUNCTION X row(index_t u) const { return x.template shifted<U>(u); }
};

template <int U, int G, index_t Cols, class T, step... S>
  requires is_across<U, G, operand<T, S...>>
struct staged<U, G, Cols, operand<T, S...>> {
  using value_type = std::remove_const_t<T>;
  using row_type = operand<T, (static_cast<void>(S), step::unit)...>;
  operand<T, S...> x;
  index_t rows, cols;
  alignas(64) value_type buffer[tile_rows * Cols];

  staged(const operand<T, S...>& at, index_t m, index_t n) : x(at), rows(m), cols(n) {
    transpose_tile<value_type>(x.data, x.template along<G - 1>(), buffer, Cols, rows, cols);
  }
  ~staged() {
    if constexpr (!std::is_const_v<T>) {
      transpose_tile<value_type>(buffer, Cols, x.data, x.template along<G - 1>(), cols, rows);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION row_type row(index_t u) { return {buffer + u * Cols, {}}; }
};

template <int U, int G, index_t Cols, class Row, class... X>
KOKKOS_FORCEINLINE_FUNCTION void tile(const Row& row, index_t m, index_t n,
                                      staged<U, G, Cols, X>&&... x) {
  for (index_t u = 0; u < m; ++u) row(n, x.row(u)...);
}

template <int U, int G, index_t I, class Row, class... X>
KOKKOS_FORCEINLINE_FUNCTION void tiles(const nest<G, I>& space, const Row& row, const X&... x) {
  constexpr index_t cols = tile_cols<typename X::value_type...>;
  for (index_t u = 0; u < space.extent[U]; u += tile_rows) {
    const index_t m = std::min(tile_rows, space.extent[U] - u);
    for (index_t j = 0; j < space.row(); j += cols) {
      const index_t n = std::min<index_t>(cols, space.row() - j);
      tile<U, G, cols>(
          row, m, n,
          staged<U, G, cols, X>(x.template shifted<U>(u).template shifted<G - 1>(j), m, n)...);
    }
  }
}

/// The loops over groups D and further, except group U, which the tiles cover.
template <int U, int D, int G, index_t I, class Row, class... X>
KOKKOS_FORCEINLINE_FUNCTION void walk(const nest<G, I>& space, const Row& row, const X&... x) {
  if constexpr (D >= G - 1) {
    if constexpr (U >= 0)
      tiles<U>(space, row, x...);
    else
      row(space.row(), x...);
  } else if constexpr (D == U) {
    walk<U, D + 1>(space, row, x...);
  } else {
    const index_t n = space.extent[D];
    for (index_t i = 0; i < n; ++i) walk<U, D + 1>(space, row, x.template shifted<D>(i)...);
  }
}

template <class X> KOKKOS_FORCEINLINE_FUNCTION X moved(X x, const index_t* offset) {
  [&]<int... D>(std::integer_sequence<int, D...>) {
    ((void)(x.data += offset[D] * x.template along<D>()), ...);
  }(std::make_integer_sequence<int, X::groups>{});
  return x;
}

/// Piece p of the nest, cut into `count` pieces along group `cut`.
template <int G, index_t I, class Row, class... X>
[[gnu::flatten]] void run_piece(const nest<G, I>& space, int cut, index_t count, index_t p,
                                const Row& row, const X&... x) {
  dimesh::detail::writes_memory();
  constexpr int across = across_group<G, X...>();
  nest<G, I> part = space;
  index_t offset[G + 1] = {};
  if (count > 1) {
    const auto group = static_cast<std::size_t>(cut);
    const index_t n = space.extent[group];
    offset[group] = n * p / count;
    part.extent[group] = n * (p + 1) / count - offset[group];
  }
  walk<across, 0>(part, Row(row), moved(x, offset)...);
}

/// Any work in pieces: one kernel type for all nests on hosts, or the compiler would make Kokkos'
/// launch code anew for each.
struct work_in_pieces {
  void (*run)(const void* work, index_t p);
  const void* work;
  void operator()(index_t p) const { run(work, p); }
};

/// How a host space runs a kernel in pieces: so many at most, all of them before it returns, in any
/// order. Tests have a space that runs them last to first.
template <class Space> struct pieces {
  static index_t most() { return 4 * Space().concurrency(); }
  [[gnu::noinline]] static void run(index_t count, const work_in_pieces& work) {
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>>(0, count), work);
    Space().fence();  // the work lives on the caller's stack
  }
};

/// piece(p) for p in [0, count), on the threads of a space.
template <class Space, class Piece> void launch(index_t count, const Piece& piece) {
  pieces<Space>::run(
      count, {[](const void* w, index_t p) { (*static_cast<const Piece*>(w))(p); }, &piece});
}

/// Every element on its own: what a device does.
template <int G, index_t I, class Row, class... X> struct by_element {
  nest<G, I> space;
  Row row;
  std::tuple<X...> operands;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    index_t at[G + 1] = {};
    for (std::size_t g = G; g-- > 0;) {
      at[g] = e % space.extent[g];
      e /= space.extent[g];
    }
    std::apply([&](const X&... x) { row(std::integral_constant<index_t, 1>{}, moved(x, at)...); },
               operands);
  }
};

}  // namespace detail

/// Calls row(length, operands...) for every row of the nest, with each operand at the row's start.
template <class Space, int G, index_t I, class Row, class... X>
void sweep(const nest<G, I>& space, int cut, const Row& row, const X&... x) {
  static_assert(((X::groups == G) && ...),
                "sweep: an operand has another number of groups than the nest; give one step per "
                "group");
  if (space.size() == 0) return;
  if constexpr (detail::runs_on_host<Space>) {
    if constexpr (std::is_same_v<Space, Kokkos::Serial>) {
      detail::run_piece(space, cut, 1, 0, row, x...);  // a launch on one thread is a call
    } else {
      const index_t most = cut < 0 ? 1 : space.extent[cut];
      const index_t count = std::min(most, detail::pieces<Space>::most());
      detail::launch<Space>(count,
                            [&](index_t p) { detail::run_piece(space, cut, count, p, row, x...); });
    }
  } else {
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>>(0, space.size()),
                         detail::by_element<G, I, Row, X...>{space, row, {x...}});
  }
}

/// body(i) for i in [0, n), on the threads of a host, or each for itself on a device.
template <class Space, class Body> void for_each_index(index_t n, const Body& body) {
  if constexpr (std::is_same_v<Space, Kokkos::Serial>) {
    for (index_t i = 0; i < n; ++i) body(i);
  } else if constexpr (detail::runs_on_host<Space>) {
    const index_t count = std::min(n, detail::pieces<Space>::most());
    detail::launch<Space>(count, [&](index_t p) {
      for (index_t i = n * p / count; i < n * (p + 1) / count; ++i) body(i);
    });
  } else {
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>>(0, n), body);
  }
}

/// The longest group along which every written operand moves, for sweep's cut; -1 if none. A row
/// of static length stays whole.
template <class... X, int G, index_t I> int cut_of(const nest<G, I>& space) {
  int best = -1;
  for (int g = 0; g < (I == dynamic ? G : G - 1); ++g) {
    const bool shared = ((X::lacks(g) && !std::is_const_v<typename X::element>) || ...);
    const auto length = [&](int group) { return space.extent[static_cast<std::size_t>(group)]; };
    if (!shared && (best < 0 || length(g) > length(best))) best = g;
  }
  return best;
}

}  // namespace dimesh::local

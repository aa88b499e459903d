// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a scalar function applied to whole arrays, in code that no layout makes anew? Over loops
// that only the run knows: one kernel for each function and element types.
//
//   loops<3> l{2, {256, 1024}, {{1024, 1}, {1024, 1}, {0, 1}}};
//   map_over(l, f, y, h, b);   // y[i, j] = f(h[i, j], b[j])
#pragma once

#include "dimesh/detail/bundle.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/kernel_range.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/row_loops.hpp"

#include <cstddef>
#include <utility>

namespace dimesh::local {

namespace detail {

/// A kernel on m rows of n elements: row i of array k begins i * row[k] elements after at[k].
using row_kernel = void (*)(const void* f, index_t m, index_t n, std::byte* const* at,
                            const index_t* row);

/// The kernels of one function: forms[s] takes input k as one value a row where s has bit k.
/// Inputs without such a form are staged.
struct row_kernels {
  row_kernel forms[8];
  const void* f;
};

/// Input k of a row kernel.
template <bool Scalar, class T>
KOKKOS_FORCEINLINE_FUNCTION auto input_lane(const std::byte* at, index_t offset) {
  using Row = std::conditional_t<Scalar, value_of_row<const T>, row_of<const T>>;
  return lane_of(Row{reinterpret_cast<const T*>(at) + offset});
}

/// y (m, n) = f(x (m, n) ...)
template <unsigned Scalars, class F, class Y, class... X> struct map_rows {
  [[gnu::noinline, gnu::flatten]] static void run(const void* f, index_t m, index_t n,
                                                  std::byte* const* at, const index_t* row) {
    const dimesh::detail::writes_memory kernel;
    each(std::index_sequence_for<X...>{}, *static_cast<const F*>(f), m, n, at, row);
  }

 private:
  template <std::size_t... K>
  KOKKOS_FORCEINLINE_FUNCTION static void each(std::index_sequence<K...>, F f, index_t m, index_t n,
                                               std::byte* const* at, const index_t* row) {
    for (index_t i = 0; i < m; ++i) {
      map_loop(n, f, lane<Y, step::unit>{reinterpret_cast<Y*>(at[0]) + i * row[0]},
               input_lane < (Scalars >> K & 1u) != 0, X > (at[K + 1], i * row[K + 1])...);
    }
  }
};

template <class F, class Y, class... X> constexpr row_kernels map_kernels() {
  constexpr int n = sizeof...(X);
  row_kernels k{{map_rows<0, F, Y, X...>::run}, nullptr};
  if constexpr (n == 2) {
    k.forms[1] = map_rows<1, F, Y, X...>::run;
    k.forms[2] = map_rows<2, F, Y, X...>::run;
  } else if constexpr (n == 3) {
    k.forms[6] = map_rows<6, F, Y, X...>::run;  // (x - mean) * scale
  }
  return k;
}

/// A block of which some inputs must be staged, tile by tile.
class staged_block {
 public:
  staged_block(const row_walk& walk, const array_loops& l, const row_kernels& k)
      : w_(walk), l_(l), k_(k) {
    for (int a = 1; a < l.arrays; ++a) {
      if (w_.step[a] != 1) staged_[count_++] = a;
    }
  }
  /// In tiles of rows, where rows are long.
  DIMESH_OUTLINE inline void tiles() {
    const index_t cols = std::min(staged_columns(l_), (w_.n + 15) / 16 * 16);
    alignas(64) std::byte room[max_arrays_staged][tile_rows * 1024 + slack_bytes];
    if (w_.across < 0) {
      for (index_t i = 0; i < w_.m; ++i) run_row(i, cols, room);
      return;
    }
    for (index_t i = 0; i < w_.m; i += tile_rows) {
      const index_t m = std::min(tile_rows, w_.m - i);
      for (index_t j = 0; j < w_.n; j += cols) run(i, j, m, std::min(cols, w_.n - j), cols, room);
    }
  }
  /// Several short rows as one long row.
  DIMESH_OUTLINE inline void together() {
    const index_t k = rows_together(w_.m, w_.n);
    alignas(64) std::byte room[max_arrays_staged][joint_rows * 16 + slack_bytes];
    count_ = 0;
    bool same = true;  // all that is staged is the same in every block
    for (int a = 1; a < l_.arrays; ++a) {
      if (w_.step[a] == 1 && w_.row[a] == w_.n) continue;
      staged_[count_++] = a;
      same = same && w_.row[a] == 0;
    }
    index_t i = 0;
    if (same && w_.m >= 2 * k) {
      run_together(0, k, w_.m / k, room);
      i = w_.m / k * k;
    }
    for (; i < w_.m; i += k) run_together(i, std::min(k, w_.m - i), 1, room);
  }
  int count() const { return count_; }

  static constexpr int max_arrays_staged = 8;

 private:
  static constexpr index_t slack_bytes = stage_slack * 16;

  template <class Room>
  void run(index_t i, index_t j, index_t m, index_t n, index_t d, Room& room) {
    std::byte* at[max_arrays];
    index_t row[max_arrays];
    for (int a = 0; a < l_.arrays; ++a) at[a] = w_.place(a, i, j), row[a] = w_.row[a];
    for (int s = 0; s < count_; ++s) {
      const int a = staged_[s];
      stage(l_.bytes[a], m, n, at[a], w_.row[a], w_.step[a], room[s], d);
      at[a] = room[s], row[a] = d;
    }
    k_.forms[0](k_.f, m, n, at, row);
  }
  /// A row whose staged inputs are one value each: the buffers of that value serve all of it.
  template <class Room> void run_row(index_t i, index_t cols, Room& room) {
    std::byte* at[max_arrays];
    index_t row[max_arrays];
    for (int a = 0; a < l_.arrays; ++a) at[a] = w_.place(a, i, 0), row[a] = cols;
    for (int s = 0; s < count_; ++s) {
      const int a = staged_[s];
      stage(l_.bytes[a], 1, std::min(cols, w_.n), at[a], 0, 0, room[s], cols);
      at[a] = room[s], row[a] = 0;
    }
    const index_t whole = w_.n / cols, rest = w_.n % cols;
    if (whole > 0) k_.forms[0](k_.f, whole, cols, at, row);
    if (rest == 0) return;
    for (int a = 0; a < l_.arrays; ++a) at[a] += whole * row[a] * l_.bytes[a];
    k_.forms[0](k_.f, 1, rest, at, row);
  }
  template <class Room> void run_together(index_t i, index_t k, index_t times, Room& room) {
    std::byte* at[max_arrays];
    index_t row[max_arrays];
    for (int a = 0; a < l_.arrays; ++a) at[a] = w_.place(a, i, 0), row[a] = k * w_.n;
    for (int s = 0; s < count_; ++s) {
      const int a = staged_[s];
      if (w_.row[a] != 0 || i == 0)
        stage(l_.bytes[a], k, w_.n, at[a], w_.row[a], w_.step[a], room[s], w_.n);
      at[a] = room[s], row[a] = 0;
    }
    k_.forms[0](k_.f, times, k * w_.n, at, row);
  }

  const row_walk& w_;
  const array_loops& l_;
  const row_kernels& k_;
  int staged_[max_arrays], count_ = 0;
};

/// The simplest loops: all arrays side by side, or rows of arrays that run along them. Returns
/// whether they were.
bool map_simple(const array_loops& l, const row_kernels& k);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline bool map_simple(const array_loops& l, const row_kernels& k) {
  const int last = l.groups - 1;
  if (last < 0 || last > 1 || (last == 1 && l.extent[1] <= short_row)) return false;
  index_t row[max_arrays];
  unsigned scalars = 0;
  for (int a = 0; a < l.arrays; ++a) {
    const index_t step = l.stride[a][last];
    if (step != 1 && (step != 0 || a == 0)) return false;
    if (step == 0) scalars |= 1u << (a - 1);
    row[a] = l.stride[a][0];
  }
  if (scalars >= 8 || k.forms[scalars] == nullptr) return false;
  k.forms[scalars](k.f, last == 0 ? 1 : l.extent[0], l.extent[last], l.at, row);
  return true;
}
#endif

/// The kernels of f over all of l, whose first array is written and contiguous.
void map_blocks(const array_loops& l, const row_kernels& k);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void map_blocks(const array_loops& l, const row_kernels& k) {
  row_walk w(l);
  unsigned scalars = 0;
  bool strided = w.step[0] != 1;
  for (int a = 1; a < l.arrays; ++a) {
    if (w.step[a] == 0) scalars |= 1u << (a - 1);
    strided = strided || (w.step[a] != 0 && w.step[a] != 1);
  }
  const bool direct = !strided && scalars < 8 && k.forms[scalars] != nullptr;
  const bool together =
      w.n <= (direct && scalars != 0 ? short_row / 4 : short_row) && w.m > 1 && w.row[0] == w.n;
  for (; w.more(); w.next()) {
    if (together)
      staged_block(w, l, k).together();
    else if (direct)
      k.forms[scalars](k.f, w.m, w.n, w.at, w.row);
    else
      staged_block(w, l, k).tiles();
  }
}
#endif

/// The longest group, for in_pieces; -1 if there is none.
inline int longest_loop(const array_loops& l) {
  int best = -1;
  for (int g = 0; g < l.groups; ++g) {
    if (best < 0 || l.extent[g] > l.extent[best]) best = g;
  }
  return best;
}

/// Four elements along the last group, a quarter of it apart: what a thread of a device makes.
template <class F, class Y, class... X> struct map_elements {
  loops<1 + sizeof...(X)> l;
  F f;
  Y* y;
  dimesh::detail::bundle<const X*...> x;

  index_t threads() const { return l.size() == 0 ? 0 : l.size() / inner() * quarter(); }
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const division of_row = divided(e, quarter());
    index_t at[arrays] = {}, step[arrays] = {};
    e = of_row.whole;
    for (int g = l.groups - 2; g >= 0; --g) {
      const division of = divided(e, l.extent[g]);
      e = of.whole;
      for (int k = 0; k < arrays; ++k) at[k] += of.rest * l.stride[k][g];
    }
    if (l.groups > 0)
      for (int k = 0; k < arrays; ++k) step[k] = l.stride[k][l.groups - 1];
    for (index_t i = of_row.rest; i < inner(); i += quarter()) {
      index_t here[arrays];
      for (int k = 0; k < arrays; ++k) here[k] = at[k] + i * step[k];
      give(here, std::index_sequence_for<X...>{});
    }
  }

 private:
  static constexpr int arrays = 1 + sizeof...(X);
  KOKKOS_INLINE_FUNCTION index_t inner() const { return l.groups > 0 ? l.extent[l.groups - 1] : 1; }
  KOKKOS_INLINE_FUNCTION index_t quarter() const { return (inner() + 3) / 4; }
  template <std::size_t... K>
  KOKKOS_FUNCTION void give(const index_t* at, std::index_sequence<K...>) const {
    dimesh::store(y[at[0]], f(static_cast<computed<X>>(dimesh::detail::item<K>(x)[at[K + 1]])...));
  }
};

/// Of these elements, and so many inputs, rows are computed.
template <class Y, class... X>
inline constexpr bool fills_rows =
    sizeof...(X) <= staged_block::max_arrays_staged && (is_stageable<Y> && ... && is_stageable<X>);

}  // namespace detail

/// y[i] = f(x[i]...). y is contiguous and has every group; it may be one of the inputs, exactly.
template <class Space = default_space, class Y, class F, class... X>
void map_over(const loops<1 + static_cast<int>(sizeof...(X))>& l, const F& f, Y* y, const X*... x) {
  static_assert(detail::fills_rows<Y, X...>, "dimesh: map has taken other elements");
  if (l.size() == 0) return;
  if constexpr (detail::runs_on_host<Space>) {
    detail::row_kernels k = detail::map_kernels<F, Y, X...>();
    k.f = &f;
    const detail::array_loops all(l, y, x...);
    detail::in_pieces<Space>(all, detail::longest_loop, [&](const detail::array_loops& part) {
      if (!detail::map_simple(part, k)) detail::map_blocks(part, k);
    });
  } else {
    if (detail::moves_to_host<Space>()) return map_over<host_space>(l, f, y, x...);
    const detail::map_elements<F, Y, X...> kernel{l, f, y,
                                                  dimesh::detail::bundle<const X*...>(x...)};
    detail::each_for_itself<Space>(kernel.threads(), kernel);
  }
}

}  // namespace dimesh::local

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do loops that only the run knows reach kernels of a few fixed forms? As blocks of rows: the
// innermost group is the row, one further group counts the rows of a block, the others are walked.
// Arrays that do not run along rows are staged (stage.hpp). Nothing here knows types or functions.
//
//   row_walk w(l);   // w.m rows of w.n elements at each of w.outer positions
//   for (; w.more(); w.next()) kernel(w.m, w.n, w.at, w.row)
#pragma once

#include "dimesh/local/loops.hpp"
#include "dimesh/local/pieces.hpp"
#include "dimesh/local/stage.hpp"

#include <algorithm>

namespace dimesh::local::detail {

/// So many arrays at most: a result, its inputs, their cotangents.
inline constexpr int max_arrays = 20;

/// loops<N> of any N, with where each array begins (null: it is not there) and the bytes of its
/// elements.
struct array_loops {
  int arrays, groups;
  index_t extent[max_dims];
  const index_t (*stride)[max_dims];
  std::byte* at[max_arrays];
  int bytes[max_arrays];

  template <int N, class... T>
  array_loops(const loops<N>& l, T*... x) : arrays(N), groups(l.groups) {
    static_assert(N == static_cast<int>(sizeof...(T)) && N <= max_arrays,
                  "dimesh: one array for each row of strides, and not so many");
    stride = l.stride;
    for (int g = 0; g < groups; ++g) extent[g] = l.extent[g];
    int k = 0;
    ((at[k] = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(x)),
      bytes[k] = static_cast<int>(sizeof(T)), ++k),
     ...);
  }
  /// The part [from, to) of group g.
  array_loops part(int g, index_t from, index_t to) const {
    array_loops p = *this;
    p.extent[g] = to - from;
    for (int k = 0; k < arrays; ++k) {
      if (p.at[k] != nullptr) p.at[k] += from * stride[k][g] * bytes[k];
    }
    return p;
  }
};

/// The group that transposed arrays are contiguous in; -1 if no array is transposed.
inline int across_group(const array_loops& l) {
  const int last = l.groups - 1;
  for (int g = 0; g < last; ++g) {
    for (int k = 0; k < l.arrays; ++k) {
      if (l.stride[k][g] == 1 && l.stride[k][last] != 0 && l.stride[k][last] != 1) return g;
    }
  }
  return -1;
}

/// A walk over blocks of m rows of n elements: row k of array a begins k * row[a] elements after
/// at[a], and its elements are step[a] apart.
struct row_walk {
  int arrays, across, outer = 0;
  index_t m = 1, n = 1;
  index_t row[max_arrays], step[max_arrays];
  std::byte* at[max_arrays];
  const array_loops& l;
  int group[max_dims];
  index_t position[max_dims];
  bool done = false;

  explicit row_walk(const array_loops& loops)
      : arrays(loops.arrays), across(across_group(loops)), l(loops) {
    const int last = l.groups - 1, rows = across >= 0 ? across : last - 1;
    if (last >= 0) n = l.extent[last];
    if (rows >= 0) m = l.extent[rows];
    int k = 0;
    do {  // there is one
      at[k] = l.at[k];
      step[k] = last >= 0 ? l.stride[k][last] : 1;
      row[k] = rows >= 0 ? l.stride[k][rows] : 0;
    } while (++k < arrays);
    for (int g = 0; g < last; ++g) {
      if (g == rows) continue;
      group[outer] = g;
      position[outer++] = 0;
    }
  }
  bool more() const { return !done; }
  /// The next block, in row-major order.
  void next() {
    for (int d = outer - 1; d >= 0; --d) {
      const int g = group[d];
      const bool wraps = ++position[d] == l.extent[g];
      const index_t by = wraps ? 1 - l.extent[g] : 1;
      for (int k = 0; k < arrays; ++k) {
        if (at[k] != nullptr) at[k] += by * l.stride[k][g] * l.bytes[k];
      }
      if (!wraps) return;
      position[d] = 0;
    }
    done = true;
  }
  std::byte* place(int k, index_t i, index_t j) const {
    return at[k] + (i * row[k] + j * step[k]) * l.bytes[k];
  }
};

/// Rows up to this long are taken together, so that a loop is worth its start.
inline constexpr index_t short_row = 64, joint_rows = 512;

/// How many short rows make one long row: whole vectors of them, so that buffers stay aligned.
inline index_t rows_together(index_t m, index_t n) {
  const index_t k = joint_rows / std::max<index_t>(n, 1);
  return std::min(m, k < 8 ? k : k / 8 * 8);
}

/// Long tiles keep arrays that are not transposed streaming: a buffer of tile_rows takes 16 KiB.
inline constexpr index_t tile_rows = 16;
inline index_t staged_columns(const array_loops& l) {
  return 1024 / *std::max_element(l.bytes, l.bytes + l.arrays);
}

/// work(part of l) in pieces along group cut_of(l) on the threads of a space; -1: in one piece.
template <class Space, class Cut, class Work>
void in_pieces(const array_loops& l, const Cut& cut_of, const Work& work) {
  if constexpr (runs_as_call<Space>) {
    work(l);
  } else {
    const int cut = cut_of(l);
    const index_t n = cut < 0 ? 1 : l.extent[cut];
    const index_t count = std::min(n, pieces<Space>::most());
    launch<Space>(count, [&](index_t p) {
      cut < 0 ? work(l) : work(l.part(cut, n * p / count, n * (p + 1) / count));
    });
  }
}

}  // namespace dimesh::local::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are rows of a table looked up when a rank holds some of them only? Those it lacks come out as
// zeros, so that the sum over the ranks is right. Backward, rows are added where they came from.
//
//   take_rows(count, width, ids, first, held, table, out)   // out[i] = table[ids[i] - first]
//   add_rows(count, width, ids, first, held, rows, table)   // table[ids[i] - first] += rows[i]
#pragma once

#include <algorithm>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::local {

namespace detail {

/// One element of what is looked up: what a device does.
template <class T, class Id> struct taken_element {
  index_t width;
  const Id* ids;
  index_t first, held;
  const T* table;
  T* out;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const division at = divided(e, width);
    const index_t row = static_cast<index_t>(ids[at.whole]) - first;
    out[e] = row >= 0 && row < held ? table[row * width + at.rest] : T(0);
  }
};
/// One column of every shares-th row of a table, to which rows are added in their order. shares: a
/// power of two.
template <class T, class Sum, class Id> struct added_column {
  index_t count, width;
  const Id* ids;
  index_t first, held, shares;
  const T* rows;
  Sum* table;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const dimesh::detail::writes_memory kernel;
    const division at = divided(e, width);
    const index_t j = at.rest, own = at.whole;
    for (index_t r = own; r < held; r += shares) table[r * width + j] = Sum(0);
    for (index_t i = 0; i < count; ++i) {
      const index_t row = static_cast<index_t>(ids[i]) - first;
      if ((row & (shares - 1)) == own && row >= 0 && row < held)
        table[row * width + j] += rows[i * width + j];
    }
  }
};

}  // namespace detail

/// ids (count), table (held, width): rows first .. first + held of the whole, out (count, width).
template <class T, class Id, class Space = default_space>
void take_rows(index_t count, index_t width, const Id* ids, index_t first, index_t held,
               const T* table, T* out) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>())
      return detail::each_for_itself<Space>(
          count * width, detail::taken_element<T, Id>{width, ids, first, held, table, out});
  for (index_t i = 0; i < count; ++i, out += width) {
    const index_t row = static_cast<index_t>(ids[i]) - first;
    if (row >= 0 && row < held)
      std::copy_n(table + row * width, width, out);
    else
      std::fill_n(out, width, T(0));
  }
}

/// ids (count), rows (count, width), table (held, width), which is overwritten.
template <class T, class Sum, class Id, class Space = default_space>
void add_rows(index_t count, index_t width, const Id* ids, index_t first, index_t held,
              const T* rows, Sum* table) {
  const dimesh::detail::writes_memory kernel;
  if constexpr (!detail::runs_on_host<Space>)
    if (!detail::moves_to_host<Space>()) {
      constexpr index_t threads = 65536;  // fill a device
      index_t shares = 1;
      while (2 * shares * width <= threads && shares < held) shares *= 2;
      return detail::each_for_itself<Space>(
          width * shares,
          detail::added_column<T, Sum, Id>{count, width, ids, first, held, shares, rows, table});
    }
  std::fill_n(table, held * width, Sum(0));
  for (index_t i = 0; i < count; ++i, rows += width) {
    const index_t row = static_cast<index_t>(ids[i]) - first;
    if (row < 0 || row >= held) continue;
    Sum* const to = table + row * width;
#pragma omp simd
    for (index_t j = 0; j < width; ++j) to[j] += rows[j];
  }
}

}  // namespace dimesh::local

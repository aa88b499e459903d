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

namespace dimesh::local {

/// ids (count), table (held, width): rows first .. first + held of the whole, out (count, width).
template <class T, class Id>
void take_rows(index_t count, index_t width, const Id* ids, index_t first, index_t held,
               const T* table, T* out) {
  const dimesh::detail::writes_memory kernel;
  for (index_t i = 0; i < count; ++i, out += width) {
    const index_t row = static_cast<index_t>(ids[i]) - first;
    if (row >= 0 && row < held)
      std::copy_n(table + row * width, width, out);
    else
      std::fill_n(out, width, T(0));
  }
}

/// ids (count), rows (count, width), table (held, width), which is overwritten.
template <class T, class Sum, class Id>
void add_rows(index_t count, index_t width, const Id* ids, index_t first, index_t held,
              const T* rows, Sum* table) {
  const dimesh::detail::writes_memory kernel;
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

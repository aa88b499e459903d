// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where along one dim is the greatest element?
//
//   argmax(256, 10, 1, logits, label)   // logits (256, 10) -> label (256)
//
// Of equals the first; NaN counts as the extreme, as reduce has it. -1 if the dim is empty.
#pragma once

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/local/reduce.hpp"

#include <cstdint>

namespace dimesh::local {

namespace detail {

/// x (outer, n, inner) -> out (outer, inner); one call does one outer index.
template <class Op, class T, class Index> struct arg_rows {
  index_t n, inner;
  const T* x;
  Index* out;

  KOKKOS_FUNCTION void operator()(index_t o) const {
    const dimesh::detail::writes_memory kernel;
    const T* row = x + o * n * inner;
    if (inner == 1) {
      out[o] = static_cast<Index>(in_row(row));
      return;
    }
    for (index_t j = 0; j < inner; j += width) {
      in_columns(row + j, inner - j < width ? inner - j : width, out + o * inner + j);
    }
  }

 private:
  static constexpr index_t width = 256;

  /// row (n): first the extreme, then the first place that holds it. The second loop is vector code
  /// everywhere, the first with g++.
  KOKKOS_FORCEINLINE_FUNCTION index_t in_row(const T* row) const {
    const T best = joined<T>(Op{}, n, itself{}, lane<const T, step::unit>{row});
    index_t at = n;
#pragma omp simd reduction(min : at)
    for (index_t k = 0; k < n; ++k) {
      const bool here = (row[k] == best) | ((row[k] != row[k]) & (best != best));
      const index_t found = here ? k : n;
      at = found < at ? found : at;
    }
    return at;
  }

  /// cols (n rows of the given width, inner apart) -> at (width)
  KOKKOS_FORCEINLINE_FUNCTION void in_columns(const T* cols, index_t count, Index* at) const {
    T best[width];
    for (index_t j = 0; j < count; ++j) {
      best[j] = cols[j];
      at[j] = 0;
    }
    for (index_t k = 1; k < n; ++k) {
#pragma omp simd
      for (index_t j = 0; j < count; ++j) {
        const T next = cols[k * inner + j];
        const bool passed = Op::passes(next, best[j]);
        at[j] = passed ? static_cast<Index>(k) : at[j];
        best[j] = passed ? next : best[j];
      }
    }
  }
};

struct nowhere {
  template <class Index> KOKKOS_FORCEINLINE_FUNCTION void operator()(Index& at) const { at = -1; }
};

template <class Space, class Op, class T, class Index>
void arg_extreme(index_t outer, index_t n, index_t inner, const T* x, Index* out) {
  if (n == 0) {
    for_each<Space>(outer * inner, nowhere{}, out);
  } else {
    for_each_index<Space>(outer, arg_rows<Op, T, Index>{n, inner, x, out});
  }
}

}  // namespace detail

/// out (outer, inner) = the place along n of the greatest element of x (outer, n, inner).
template <class Space = default_space, class T, class Index>
void argmax(index_t outer, index_t n, index_t inner, const T* x, Index* out) {
  detail::arg_extreme<Space, greatest>(outer, n, inner, x, out);
}

/// out (outer, inner) = the place along n of the smallest element of x (outer, n, inner).
template <class Space = default_space, class T, class Index>
void argmin(index_t outer, index_t n, index_t inner, const T* x, Index* out) {
  detail::arg_extreme<Space, least>(outer, n, inner, x, out);
}

}  // namespace dimesh::local

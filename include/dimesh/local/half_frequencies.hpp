// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of which frequencies does a transform of real numbers in rows and columns have the conjugates?
// Frequency k of N = rows x columns is in row k % rows. Rows 0 .. rows / 2 have all that the others
// have: what is not among them is the conjugate of frequency N - k, which is.
//
//   half_frequencies l{1, 1, 9, 1, 0, 16, 64, 8};   // 0 .. 8 of 64, in 8 rows
//   conjugate_mirrored(l, 1.0, 2.0, x, y)      // y[k] = conj(x[k]) for k = 5, 6, 7; 0 < k: times 2
#pragma once

#include <complex>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::local {

/// A block (outer, groups, count, inner) of which element (o, g, i, e) is of frequency first +
/// g apart + i, of n, in so many rows.
struct half_frequencies {
  index_t outer, groups, count, inner, first, apart, n, rows;

  /// Is frequency k of the other half, or in a row of it?
  constexpr bool is_mirrored(index_t k) const { return 2 * k > n || 2 * (k % rows) > rows; }
  /// Is it its own conjugate's?
  constexpr bool is_end(index_t k) const { return k == 0 || 2 * k == n; }
};

/// y = x, conjugated where it is mirrored, times `ends`, or `between` the ends. y may be x.
template <class T>
void conjugate_mirrored(const half_frequencies& l, T ends, T between, const std::complex<T>* x,
                        std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  for (index_t o = 0; o < l.outer; ++o)
    for (index_t g = 0; g < l.groups; ++g)
      for (index_t i = 0; i < l.count; ++i) {
        const index_t k = l.first + g * l.apart + i;
        const T re = l.is_end(k) ? ends : between, im = l.is_mirrored(k) ? -re : re;
        for (index_t e = 0; e < l.inner; ++e, ++x, ++y) *y = {re * x->real(), im * x->imag()};
      }
}

}  // namespace dimesh::local

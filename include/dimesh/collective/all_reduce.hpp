// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a buffer summed over ranks? All ranks end with the same bits. Large buffers go in pieces:
// MPI libraries lose their pipelines, and the cache, on very long ones.
//
//   all_reduce(c, x, y, n)   -> y[i] is the sum over the ranks of x[i]; x == y is allowed
#pragma once

#include "dimesh/collective/element.hpp"

namespace dimesh::collective {

/// Buffers beyond `cut_above` bytes travel in pieces of `piece` bytes.
inline constexpr index_t cut_above = index_t{8} << 20, piece = index_t{1} << 20;

/// y[0..n) becomes the reduction over the ranks of c of x[0..n). Payload: n elements.
template <class T>
void all_reduce(const dimesh::detail::communicator& c, const T* x, T* y, index_t n,
                reduction r = reduction::sum) {
  if (c.size() == 1) {
    return copy(x, y, n);
  }
  if (n == 0) return;
  prepare(c, "all_reduce", n);
  constexpr auto size = static_cast<index_t>(sizeof(T));
  const index_t step = n * size > cut_above ? piece / size : n;
  for (index_t at = 0; at < n; at += step) {
    const auto count = static_cast<int>(step < n - at ? step : n - at);
    dimesh::detail::check(MPI_Allreduce(x == y ? MPI_IN_PLACE : x + at, y + at, count,
                                        element<T>::type(), operation<T>(r), c.handle()),
                          "all_reduce");
  }
}

}  // namespace dimesh::collective

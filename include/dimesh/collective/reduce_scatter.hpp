// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are buffers summed over ranks when each rank wants one block of the sum only?
//
//   reduce_scatter(c, x, n, y)         -> x is [ranks][n]; y[i] is the sum of all ranks' x[own][i]
//   reduce_scatter_v(c, x, count, y)   -> the same with blocks of count[r] elements
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/detail/pool.hpp"

namespace dimesh::collective {

/// Blocks of count[r] elements one after another; y gets the own one. Payload: all of x.
template <class T>
void reduce_scatter_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
                      index_t limit = most_per_call<T>) {
  index_t sum = 0;
  for (int r = 0; r < c.size(); ++r) sum += count[r];
  if (sum == 0) return;
  if (c.size() == 1) return copy(x, y, sum);
  prepare(c, "reduce_scatter", sum);
  auto& ints = detail::int_arrays::instance(c.size());
  if (sum <= limit) {
    detail::to_int<T>(count, c.size(), ints.receive_count, ints.receive_at);
    dimesh::detail::check(MPI_Reduce_scatter(x, y, ints.receive_count.data(), element<T>::type(),
                                             operation<T>(reduction::sum), c.handle()),
                          "reduce_scatter");
    return;
  }
  for (int r = 0; r < c.size(); x += count[r++])  // beyond an int: block by block to its owner
    for (index_t at = 0; at < count[r]; at += limit) {
      const auto n = static_cast<int>(limit < count[r] - at ? limit : count[r] - at);
      dimesh::detail::check(
          MPI_Reduce(x + at, r == c.rank() ? y + at : nullptr, n, element<T>::type(),
                     operation<T>(reduction::sum), r, c.handle()),
          "reduce_scatter");
    }
}

/// Blocks of n elements each; large ones go in pieces, as in all_reduce. Payload: all of x.
template <class T>
void reduce_scatter(const dimesh::detail::communicator& c, const T* x, index_t n, T* y) {
  if (n == 0) return;
  const index_t ranks = c.size();
  constexpr auto size = static_cast<index_t>(sizeof(T));
  if (ranks == 1) return copy(x, y, n);
  prepare(c, "reduce_scatter", n);
  const auto call = [&c](const T* in, T* out, index_t count) {
    dimesh::detail::check(
        MPI_Reduce_scatter_block(in, out, static_cast<int>(count), element<T>::type(),
                                 operation<T>(reduction::sum), c.handle()),
        "reduce_scatter");
  };
  if (n * ranks * size <= cut_above) return call(x, y, n);
  const index_t step = piece / size / ranks > 0 ? piece / size / ranks : 1;
  const auto scratch =
      dimesh::detail::storage::acquire(static_cast<std::size_t>(step * ranks * size));
  T* packed = static_cast<T*>(scratch.data());  // [ranks][count]
  for (index_t at = 0; at < n; at += step) {
    const index_t count = step < n - at ? step : n - at;
    for (index_t r = 0; r < ranks; ++r) copy(x + r * n + at, packed + r * count, count);
    call(packed, y + at, count);
  }
}

}  // namespace dimesh::collective

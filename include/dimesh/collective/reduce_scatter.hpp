// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are buffers summed over ranks when each rank wants one block of the sum only?
//
//   reduce_scatter(c, x, n, y)         -> x is [ranks][n]; y[i] is the sum of all ranks' x[own][i]
//   reduce_scatter_v(c, x, count, y)   -> the same with blocks of count[r] elements
#pragma once

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::collective {

/// Blocks one after another, `sum` elements in all, which MPI can count; y gets the own one, or,
/// with `later`, will get it. Payload: all of x.
void reduce_scatter_counted(const dimesh::detail::communicator& c, const wire& w,
                            const std::byte* x, index_t sum, std::byte* y, const int* count,
                            requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_scatter_counted(const dimesh::detail::communicator& c,
                                                  const wire& w, const std::byte* x, index_t sum,
                                                  std::byte* y, const int* count, requests* later) {
  prepare(c, "reduce_scatter", sum, w);
  const told here(event_kind::reduce_scatter, c, sum * w.size);
  const MPI_Op op = operation(w.kind, reduction::sum);
  staged near = staged::of_sums(later, is_own_operation(w.kind, reduction::sum));
  x = near.reads(x, sum * w.size);
  y = near.writes(y, count[c.rank()] * w.size);
  dimesh::detail::check(
      later == nullptr ? MPI_Reduce_scatter(x, y, count, w.type(), op, c.handle())
                       : MPI_Ireduce_scatter(x, y, count, w.type(), op, c.handle(), later->add()),
      "reduce_scatter");
  near.bring();
}
#endif

/// Blocks of count[r] elements one after another, which travel as w; y gets the own one. Payload:
/// all of x.
void reduce_scatter_elements_v(const dimesh::detail::communicator& c, const wire& w,
                               const std::byte* x, const index_t* count, std::byte* y,
                               index_t limit);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_scatter_elements_v(const dimesh::detail::communicator& c,
                                                     const wire& w, const std::byte* x,
                                                     const index_t* count, std::byte* y,
                                                     index_t limit) {
  index_t sum = 0;
  for (int r = 0; r < c.size(); ++r) sum += count[r];
  if (sum == 0) return;
  if (c.size() == 1) return copy(x, y, sum * w.size);
  if (sum <= limit) {
    auto& ints = detail::int_arrays::instance(c.size());
    detail::to_int(1, count, c.size(), ints.receive_count, ints.receive_at);
    return reduce_scatter_counted(c, w, x, sum, y, ints.receive_count.data());
  }
  prepare(c, "reduce_scatter", sum, w);
  const told here(event_kind::reduce_scatter, c, sum * w.size);
  const MPI_Op op = operation(w.kind, reduction::sum);
  for (int r = 0; r < c.size(); x += w.size * count[r++])  // beyond an int: block by block
    for (index_t at = 0; at < count[r]; at += limit) {
      const auto n = static_cast<int>(limit < count[r] - at ? limit : count[r] - at);
      staged near = staged::of_sums(nullptr, is_own_operation(w.kind, reduction::sum));
      const std::byte* const from = near.reads(x + at * w.size, n * w.size);
      std::byte* const to = r == c.rank() ? near.writes(y + at * w.size, n * w.size) : nullptr;
      dimesh::detail::check(MPI_Reduce(from, to, n, w.type(), op, r, c.handle()), "reduce_scatter");
      near.bring();
    }
}
#endif

/// Blocks of n elements each; large ones go in pieces, as in all_reduce. With `later` it begins to,
/// in one piece, which MPI must be able to count. Payload: all of x.
void reduce_scatter_elements(const dimesh::detail::communicator& c, const wire& w,
                             const std::byte* x, index_t n, std::byte* y,
                             requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_scatter_elements(const dimesh::detail::communicator& c,
                                                   const wire& w, const std::byte* x, index_t n,
                                                   std::byte* y, requests* later) {
  if (n == 0) return;
  const index_t ranks = c.size(), size = w.size;
  if (ranks == 1) return copy(x, y, n * size);
  prepare(c, "reduce_scatter", n, w);
  const told here(event_kind::reduce_scatter, c, ranks * n * size);
  const auto call = [&c, &w, later](const std::byte* in, std::byte* out, index_t count) {
    staged near = staged::of_sums(later, is_own_operation(w.kind, reduction::sum));
    in = near.reads(in, c.size() * count * w.size);
    out = near.writes(out, count * w.size);
    const auto units = static_cast<int>(count);
    const MPI_Op op = operation(w.kind, reduction::sum);
    dimesh::detail::check(
        make({dense::reduce_scatter, in, out, units, w.type(), op, c.handle()}, later),
        "reduce_scatter");
    near.bring();
  };
  if (later != nullptr || n * ranks * size <= cut_above) return call(x, y, n);
  const index_t step = piece / size / ranks > 0 ? piece / size / ranks : 1;
  const auto scratch =
      dimesh::detail::storage::acquire(static_cast<std::size_t>(step * ranks * size));
  auto* const packed = static_cast<std::byte*>(scratch.data());  // [ranks][count]
  for (index_t at = 0; at < n; at += step) {
    const index_t count = step < n - at ? step : n - at;
    for (index_t r = 0; r < ranks; ++r)
      copy(x + (r * n + at) * size, packed + r * count * size, count * size);
    call(packed, y + at * size, count);
  }
}
#endif

/// The same of elements whose type is known.
template <class T>
void reduce_scatter_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
                      index_t limit = most_per_call<T>) {
  static_assert(element<T>::reducible,
                "collective: MPI cannot reduce this element type; cast first");
  reduce_scatter_elements_v(c, wire_of<T>, bytes_of(x), count, bytes_of(y), limit);
}
template <class T>
void reduce_scatter(const dimesh::detail::communicator& c, const T* x, index_t n, T* y) {
  static_assert(element<T>::reducible,
                "collective: MPI cannot reduce this element type; cast first");
  reduce_scatter_elements(c, wire_of<T>, bytes_of(x), n, bytes_of(y));
}

}  // namespace dimesh::collective

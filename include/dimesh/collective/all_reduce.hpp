// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a buffer summed over ranks? All ranks end with the same bits. Large buffers go in pieces:
// MPI libraries lose their pipelines, and the cache, on very long ones.
//
//   all_reduce(c, x, y, n)   -> y[i] is the sum over the ranks of x[i]; x == y is allowed
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

/// Buffers beyond `cut_above` bytes travel in pieces of `piece` bytes.
inline constexpr index_t cut_above = index_t{8} << 20, piece = index_t{1} << 20;

/// y[0..n) becomes the reduction over the ranks of c of x[0..n), elements that travel as w; or,
/// with `later`, begins to, in one piece. Payload: n elements.
void all_reduce_elements(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                         std::byte* y, index_t n, reduction r = reduction::sum,
                         requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void all_reduce_elements(const dimesh::detail::communicator& c, const wire& w,
                                               const std::byte* x, std::byte* y, index_t n,
                                               reduction r, requests* later) {
  if (c.size() == 1) return copy(x, y, n * w.size);
  if (n == 0) return;
  prepare(c, "all_reduce", n, w);
  const told here(event_kind::all_reduce, c, n * w.size);
  const index_t whole = n < w.most_per_call() ? n : w.most_per_call();
  const index_t step = later == nullptr && n * w.size > cut_above ? piece / w.size : whole;
  for (index_t at = 0; at < n; at += step) {
    const auto count = static_cast<int>(step < n - at ? step : n - at);
    staged near = staged::of_sums(later, is_own_operation(w.kind, r));
    std::byte* const to = near.writes(y + at * w.size, count * w.size, x == y);
    const void* const from = x == y ? MPI_IN_PLACE : near.reads(x + at * w.size, count * w.size);
    dimesh::detail::check(
        make({dense::all_reduce, from, to, count, w.type(), operation(w.kind, r), c.handle()},
             later),
        "all_reduce");
    near.bring();
  }
}
#endif

/// The same of elements whose type is known.
template <class T>
void all_reduce(const dimesh::detail::communicator& c, const T* x, T* y, index_t n,
                reduction r = reduction::sum) {
  static_assert(element<T>::reducible,
                "collective: MPI cannot reduce this element type; cast first");
  all_reduce_elements(c, wire_of<T>, bytes_of(x), bytes_of(y), n, r);
}

}  // namespace dimesh::collective

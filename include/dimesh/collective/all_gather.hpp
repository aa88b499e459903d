// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do ranks hand each other their blocks? Every rank ends with all of them, in rank order.
//
//   all_gather(c, x, n, y)        -> y is [ranks][n], y[r] from rank r
//   all_gather_v(c, x, count, y)  -> blocks of count[r] elements one after another
#pragma once

#include "dimesh/collective/point.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

/// Blocks of n elements on this rank, `sum` of them in all, that MPI can count; or, with `later`,
/// begins to hand them on. Payload: the own block.
void all_gather_counted(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                        index_t n, index_t sum, std::byte* y, const call_counts& counts,
                        requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void all_gather_counted(const dimesh::detail::communicator& c, const wire& w,
                                              const std::byte* x, index_t n, index_t sum,
                                              std::byte* y, const call_counts& counts,
                                              requests* later) {
  prepare(c, "all_gather", sum, w);
  const told here(event_kind::all_gather, c, n * w.size, sum * w.size);
  const auto units = static_cast<int>(n * w.units());
  staged near(later);
  x = near.reads(x, n * w.size);
  y = near.writes(y, sum * w.size);
  dimesh::detail::check(
      later == nullptr ? MPI_Allgatherv(x, units, w.type(), y, counts.receive_count,
                                        counts.receive_at, w.type(), c.handle())
                       : MPI_Iallgatherv(x, units, w.type(), y, counts.receive_count,
                                         counts.receive_at, w.type(), c.handle(), later->add()),
      "all_gather");
  near.bring();
}
#endif

/// Blocks of count[r] elements that travel as w; the own one has count[rank]. Payload: the own
/// block.
void all_gather_elements_v(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                           const index_t* count, std::byte* y, index_t limit);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void all_gather_elements_v(const dimesh::detail::communicator& c,
                                                 const wire& w, const std::byte* x,
                                                 const index_t* count, std::byte* y,
                                                 index_t limit) {
  index_t own = 0, sum = 0;
  for (int r = 0; r < c.size(); ++r) {
    if (r == c.rank()) own = sum;
    sum += count[r];
  }
  if (sum == 0) return;
  const index_t n = count[c.rank()];
  if (c.size() > 1) {
    if (sum <= limit) {
      auto& ints = detail::int_arrays::instance(c.size());
      detail::to_int(w.units(), count, c.size(), ints.receive_count, ints.receive_at);
      return all_gather_counted(
          c, w, x, n, sum, y,
          {nullptr, nullptr, ints.receive_count.data(), ints.receive_at.data()});
    }
    prepare(c, "all_gather", sum, w);
    const told here(event_kind::all_gather, c, n * w.size, sum * w.size);
    for (int k = 1, p = c.size(), me = c.rank(); k < p; ++k) {
      const int to = (me + k) % p, from = (me + p - k) % p;
      index_t at = 0;
      for (int r = 0; r < from; ++r) at += count[r];
      exchange_elements(c, w, x, n, to, y + at * w.size, count[from], from, "all_gather", limit);
    }
  }
  copy(x, y + own * w.size, n * w.size);
}
#endif

/// Blocks of n elements each; or, with `later`, begins to hand them on (at once where MPI cannot
/// count them). Payload: n elements.
void all_gather_elements(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                         index_t n, std::byte* y, requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void all_gather_elements(const dimesh::detail::communicator& c, const wire& w,
                                               const std::byte* x, index_t n, std::byte* y,
                                               requests* later) {
  if (n == 0) return;
  if (c.size() == 1) return copy(x, y, n * w.size);
  if (n > w.most_per_call()) {
    const std::vector<index_t> count(static_cast<std::size_t>(c.size()), n);
    return all_gather_elements_v(c, w, x, count.data(), y, w.most_per_call());
  }
  prepare(c, "all_gather", n, w);
  const told here(event_kind::all_gather, c, n * w.size, c.size() * n * w.size);
  const auto units = static_cast<int>(n * w.units());
  staged near(later);
  x = near.reads(x, n * w.size);
  y = near.writes(y, c.size() * n * w.size);
  dimesh::detail::check(
      make({dense::all_gather, x, y, units, w.type(), MPI_OP_NULL, c.handle()}, later),
      "all_gather");
  near.bring();
}
#endif

/// The same of elements whose type is known.
template <class T>
void all_gather_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
                  index_t limit = most_per_call<T>) {
  all_gather_elements_v(c, wire_of<T>, bytes_of(x), count, bytes_of(y), limit);
}
template <class T>
void all_gather(const dimesh::detail::communicator& c, const T* x, index_t n, T* y) {
  all_gather_elements(c, wire_of<T>, bytes_of(x), n, bytes_of(y));
}

}  // namespace dimesh::collective

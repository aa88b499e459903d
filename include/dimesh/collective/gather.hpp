// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank collect the blocks of all, or hand them out?
//
//   gather_v(c, x, count, y, root)    -> on the root y holds the blocks in rank order
//   scatter_v(c, x, count, y, root)   -> y is the block of count[rank] elements that the root had
#pragma once

#include "dimesh/collective/point.hpp"

namespace dimesh::collective {

/// Blocks whose lengths MPI can count, n elements of this rank and `sum` of them all, to y on the
/// root, whose own block may be in its place there already; or, with `later`, begins to collect
/// them: then the counts stay until it is over. Payload: the own block.
void gather_counted(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                    index_t n, index_t sum, std::byte* y, const call_counts& counts, int root,
                    requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void gather_counted(const dimesh::detail::communicator& c, const wire& w,
                                          const std::byte* x, index_t n, index_t sum, std::byte* y,
                                          const call_counts& counts, int root, requests* later) {
  prepare(c, "gather", sum, w);
  const told here(event_kind::gather, c, n * w.size);
  const auto units = static_cast<int>(n * w.units());
  const index_t unit = w.size / w.units();
  const bool is_root = c.rank() == root,
             in_place = is_root && x == y + counts.receive_at[root] * unit;
  staged near(later);
  if (is_root) y = near.writes(y, sum * w.size, in_place);
  const void* const sent = in_place ? MPI_IN_PLACE : near.reads(x, n * w.size);
  dimesh::detail::check(
      later == nullptr ? MPI_Gatherv(sent, units, w.type(), y, counts.receive_count,
                                     counts.receive_at, w.type(), root, c.handle())
                       : MPI_Igatherv(sent, units, w.type(), y, counts.receive_count,
                                      counts.receive_at, w.type(), root, c.handle(), later->add()),
      "gather");
  near.bring();
}
#endif

/// Blocks of count[r] elements, known on every rank; y matters on the root, whose own block may be
/// in its place there already. Payload: the own block.
template <class T>
void gather_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
              int root, index_t limit = most_per_call<T>) {
  index_t sum = 0;
  for (int r = 0; r < c.size(); ++r) sum += count[r];
  if (c.size() == 1) return copy(x, y, sum);
  if (sum == 0) return;
  const index_t n = count[c.rank()];
  if (sum <= limit) {
    auto& ints = detail::int_arrays::instance(c.size());
    detail::to_int(element<T>::units, count, c.size(), ints.receive_count, ints.receive_at);
    return gather_counted(c, wire_of<T>, bytes_of(x), n, sum, bytes_of(y),
                          {nullptr, nullptr, ints.receive_count.data(), ints.receive_at.data()},
                          root);
  }
  prepare(c, "gather", sum, wire_of<T>);
  const told here(event_kind::gather, c, n * wire_of<T>.size);
  if (c.rank() != root) return exchange<T>(c, x, n, root, nullptr, 0, 0, "gather", limit);
  for (int r = 0; r < c.size(); y += count[r++]) {
    if (r == root)
      copy(x, y, n);
    else
      exchange<T>(c, nullptr, 0, 0, y, count[r], r, "gather", limit);
  }
}

/// The reverse; x matters on the root. Payload: all of x on the root, nothing elsewhere.
template <class T>
void scatter_v(const dimesh::detail::communicator& c, const T* x, const index_t* count, T* y,
               int root, index_t limit = most_per_call<T>) {
  index_t sum = 0;
  for (int r = 0; r < c.size(); ++r) sum += count[r];
  if (c.size() == 1) return copy(x, y, sum);
  if (sum == 0) return;
  prepare(c, "scatter", sum, wire_of<T>);
  const told here(event_kind::scatter, c, c.rank() == root ? sum * wire_of<T>.size : 0);
  const index_t n = count[c.rank()];
  if (sum <= limit) {
    auto& ints = detail::int_arrays::instance(c.size());
    detail::to_int(element<T>::units, count, c.size(), ints.send_count, ints.send_at);
    staged near;
    if (c.rank() == root) x = near.reads(x, sum * wire_of<T>.size);
    y = near.writes(y, n * wire_of<T>.size);
    dimesh::detail::check(
        MPI_Scatterv(x, ints.send_count.data(), ints.send_at.data(), element<T>::type(), y,
                     static_cast<int>(n * element<T>::units), element<T>::type(), root, c.handle()),
        "scatter");
    near.bring();
  } else if (c.rank() != root) {
    exchange<T>(c, nullptr, 0, 0, y, n, root, "scatter", limit);
  } else {
    for (int r = 0; r < c.size(); x += count[r++]) {
      if (r == root)
        copy(x, y, n);
      else
        exchange<T>(c, x, count[r], r, nullptr, 0, 0, "scatter", limit);
    }
  }
}

}  // namespace dimesh::collective

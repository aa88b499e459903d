// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does every rank give every other a part of its own?
//
//   all_to_all_v(c, x, send, y, receive, most)   -> runs of any length, at any place
//   all_to_all_dense(c, w, x, n, y)              -> x is [ranks][n]; y[r] is what rank r had for us
#pragma once

#include "dimesh/collective/point.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

/// Parts of n elements, which travel as w, for every rank, the own one too; or, with `later`,
/// begins to. Payload: what goes to others.
void all_to_all_dense(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                      index_t n, std::byte* y, requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void all_to_all_dense(const dimesh::detail::communicator& c, const wire& w,
                                            const std::byte* x, index_t n, std::byte* y,
                                            requests* later) {
  if (n == 0) return;
  prepare(c, "all_to_all", n, w);
  const index_t sent = (c.size() - 1) * n * w.size;
  const told here(event_kind::all_to_all, c, sent, sent);
  const auto units = static_cast<int>(n * w.units());
  staged near(later);
  x = near.reads(x, c.size() * n * w.size);
  y = near.writes(y, c.size() * n * w.size);
  dimesh::detail::check(
      make({dense::all_to_all, x, y, units, w.type(), MPI_OP_NULL, c.handle()}, later),
      "all_to_all");
  near.bring();
}
#endif

/// Parts of any length, `sent` and `received` elements in all, which MPI can count; or, with
/// `later`, begins to. Payload: what is sent.
void all_to_all_counted(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                        index_t sent, std::byte* y, index_t received, index_t most,
                        const call_counts& counts, requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void all_to_all_counted(const dimesh::detail::communicator& c, const wire& w,
                                              const std::byte* x, index_t sent, std::byte* y,
                                              index_t received, index_t most,
                                              const call_counts& counts, requests* later) {
  prepare(c, "all_to_all", most, w);
  const told here(event_kind::all_to_all, c, sent * w.size, received * w.size);
  staged near(later);
  const index_t unit = w.size / w.units();
  x = near.reads(x, end_of_runs(counts.send_count, counts.send_at, c.size()) * unit);
  y = near.writes(y, end_of_runs(counts.receive_count, counts.receive_at, c.size()) * unit);
  dimesh::detail::check(
      later == nullptr
          ? MPI_Alltoallv(x, counts.send_count, counts.send_at, w.type(), y, counts.receive_count,
                          counts.receive_at, w.type(), c.handle())
          : MPI_Ialltoallv(x, counts.send_count, counts.send_at, w.type(), y, counts.receive_count,
                           counts.receive_at, w.type(), c.handle(), later->add()),
      "all_to_all");
  near.bring(counts.receive_count, counts.receive_at, c.size(), unit);
}
#endif

/// Parts of any length anywhere: rank r gets send[r] from x and its part goes to receive[r] of y.
/// Runs of the own part are empty: it is not sent. `most` is at least the end of any run on any
/// rank, and the same on all. Payload: what is sent.
template <class T>
void all_to_all_v(const dimesh::detail::communicator& c, const T* x, const run* send, T* y,
                  const run* receive, index_t most, index_t limit = most_per_call<T>) {
  if (c.size() == 1 || most == 0) return;
  const index_t sent = bytes_in<T>(send, c.size()), received = bytes_in<T>(receive, c.size());
  if (most > limit) {
    prepare(c, "all_to_all", most, wire_of<T>);
    const told here(event_kind::all_to_all, c, sent, received);
    return exchange_all(c, x, send, y, receive, "all_to_all", limit);
  }
  auto& ints = detail::int_arrays::instance(c.size());
  detail::to_int(element<T>::units, send, c.size(), ints.send_count, ints.send_at);
  detail::to_int(element<T>::units, receive, c.size(), ints.receive_count, ints.receive_at);
  all_to_all_counted(c, wire_of<T>, bytes_of(x), sent / wire_of<T>.size, bytes_of(y),
                     received / wire_of<T>.size, most,
                     {ints.send_count.data(), ints.send_at.data(), ints.receive_count.data(),
                      ints.receive_at.data()});
}

}  // namespace dimesh::collective

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank give another what it has? The others take no part. Messages between two ranks
// arrive in the order of the program, which is the same on both.
//
//   send(c, x, y, n, 0, 1)   -> y on rank 1 of c is what x is on rank 0
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#ifdef DIMESH_CHECKED
#include "dimesh/collective/pair.hpp"
#endif
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/waiting.hpp"

namespace dimesh::collective {

#ifdef DIMESH_CHECKED
/// From memory of its own: where the other rank never comes, MPI may read it long after.
void send_watched(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                  int count, int to);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void send_watched(const dimesh::detail::communicator& c, const wire& w,
                                        const std::byte* x, int count, int to) {
  const auto bytes = static_cast<std::size_t>(count / w.units() * w.size);
  const auto own = std::make_shared<std::vector<std::byte>>(bytes);
  dimesh::detail::copy_to_host(own->data(), x, static_cast<index_t>(bytes));
  requests r;
  r.keep(own);
  dimesh::detail::check(MPI_Isend(own->data(), count, w.type(), to, 0, c.handle(), r.add()),
                        "send");
  wait_for(r, c, to, "send");
}
#endif
inline void receive_watched(const dimesh::detail::communicator& c, const wire& w, std::byte* y,
                            int count, int from) {
  requests r;
  staged near(&r);
  std::byte* const here = near.writes(y, count / w.units() * w.size);
  near.bring();
  dimesh::detail::check(
      MPI_Irecv(here, count, w.type(), from, 0, c.handle(), r.add(under_way::receive)), "send");
  wait_for(r, c, from, "send");
}
#endif

/// Begins to send x to rank `other` of c; or to receive y from it, where x is null.
void begin_message(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                   std::byte* y, int count, int other, requests& later);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void begin_message(const dimesh::detail::communicator& c, const wire& w,
                                         const std::byte* x, std::byte* y, int count, int other,
                                         requests& later) {
  const index_t bytes = count / w.units() * w.size;
  staged near(&later);
  if (x == nullptr) {
    y = near.writes(y, bytes);
    near.bring();
    return dimesh::detail::check(later.receive(y, count, w.type(), other, 0, c.handle()), "send");
  }
  const told here(event_kind::message, c, bytes);
  x = near.reads(x, bytes);
  dimesh::detail::check(later.send(x, count, w.type(), other, 0, c.handle()), "send");
}
#endif

/// n elements that travel as w, from rank `from` to rank `to` of c; x is read on the one, y written
/// on the other; or, with `later`, begins to. Payload: n elements on `from`, nothing elsewhere.
void send_elements(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                   std::byte* y, index_t n, int from, int to, index_t limit,
                   requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void send_elements(const dimesh::detail::communicator& c, const wire& w,
                                         const std::byte* x, std::byte* y, index_t n, int from,
                                         int to, index_t limit, requests* later) {
  const bool sends = c.rank() == from, receives = c.rank() == to;
  if (!(sends || receives)) return;
#ifdef DIMESH_CHECKED
  // Not all ranks of the communicator: most are elsewhere.
  if (from != to) compare_ends(c, w, n, from, to, "send", later != nullptr);
#endif
  if (n == 0) return;
  if (sends && receives) return copy(x, y, n * w.size);
  if constexpr (!dimesh::detail::hosts_only) Kokkos::fence();
  for (index_t at = 0; at < n; at += limit) {
    const auto count = static_cast<int>((limit < n - at ? limit : n - at) * w.units());
    if (later != nullptr) {
      begin_message(c, w, sends ? x + at * w.size : nullptr, y + at * w.size, count,
                    sends ? to : from, *later);
      continue;
    }
#ifdef DIMESH_CHECKED
    if (sends) {
      const told here(event_kind::message, c, count / w.units() * w.size);
      send_watched(c, w, x + at * w.size, count, to);
    } else {
      receive_watched(c, w, y + at * w.size, count, from);
    }
#else
    const index_t bytes = count / w.units() * w.size;
    staged near;
    if (sends) {
      const told here(event_kind::message, c, bytes);
      const std::byte* const part = near.reads(x + at * w.size, bytes);
      dimesh::detail::check(MPI_Send(part, count, w.type(), to, 0, c.handle()), "send");
    } else {
      const dimesh::detail::waiting here("send");
      const opened_to_mpi elements;
      std::byte* const part = near.writes(y + at * w.size, bytes);
      dimesh::detail::check(MPI_Recv(part, count, w.type(), from, 0, c.handle(), MPI_STATUS_IGNORE),
                            "send");
      near.bring();
    }
#endif
  }
}
#endif

/// The same of elements whose type is known.
template <class T>
void send(const dimesh::detail::communicator& c, const T* x, T* y, index_t n, int from, int to,
          index_t limit = most_per_call<T>, requests* later = nullptr) {
  send_elements(c, wire_of<T>, bytes_of(x), bytes_of(y), n, from, to, limit, later);
}

}  // namespace dimesh::collective

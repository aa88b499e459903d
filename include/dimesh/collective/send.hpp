// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank give another what it has? The others take no part. Messages between two ranks
// arrive in the order of the program, which is the same on both.
//
//   send(c, x, y, n, 0, 1)   -> y on rank 1 of c is what x is on rank 0
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/detail/waiting.hpp"

namespace dimesh::collective {

/// n elements that travel as w, from rank `from` to rank `to` of c; x is read on the one, y written
/// on the other. Payload: n elements on `from`, nothing elsewhere.
inline void send_elements(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                          std::byte* y, index_t n, int from, int to, index_t limit) {
  const bool sends = c.rank() == from, receives = c.rank() == to;
  if (n == 0 || !(sends || receives)) return;
  if (sends && receives) return copy(x, y, n * w.size);
  // No comparison of calls in checked builds: most ranks of the communicator are elsewhere.
  if constexpr (!std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>)
    Kokkos::fence();
  for (index_t at = 0; at < n; at += limit) {
    const auto count = static_cast<int>((limit < n - at ? limit : n - at) * w.units());
    if (sends) {
      const told here(event_kind::message, c, count / w.units() * w.size);
      dimesh::detail::check(MPI_Send(x + at * w.size, count, w.type(), to, 0, c.handle()), "send");
    } else {
      const dimesh::detail::waiting here("send");
      dimesh::detail::check(
          MPI_Recv(y + at * w.size, count, w.type(), from, 0, c.handle(), MPI_STATUS_IGNORE),
          "send");
    }
  }
}

/// The same of elements whose type is known.
template <class T>
void send(const dimesh::detail::communicator& c, const T* x, T* y, index_t n, int from, int to,
          index_t limit = most_per_call<T>) {
  send_elements(c, wire_of<T>, bytes_of(x), bytes_of(y), n, from, to, limit);
}

}  // namespace dimesh::collective

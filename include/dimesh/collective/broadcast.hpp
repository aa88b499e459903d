// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank give all others what it has?
//
//   broadcast(c, x, n, root)   -> x on every rank is what x was on rank `root` of c
#pragma once

#include "dimesh/collective/element.hpp"

namespace dimesh::collective {

/// In place. Payload: n elements on the root, nothing elsewhere.
template <class T>
void broadcast(const dimesh::detail::communicator& c, T* x, index_t n, int root,
               index_t limit = most_per_call<T>) {
  if (c.size() == 1 || n == 0) return;
  prepare(c, "broadcast", n, wire_of<T>);
  const told here(event_kind::broadcast, c, c.rank() == root ? n * wire_of<T>.size : 0,
                  n * wire_of<T>.size);
  for (index_t at = 0; at < n; at += limit) {
    const auto count = static_cast<int>((limit < n - at ? limit : n - at) * element<T>::units);
    dimesh::detail::check(MPI_Bcast(x + at, count, element<T>::type(), root, c.handle()),
                          "broadcast");
  }
}

}  // namespace dimesh::collective

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank give all others what it has?
//
//   broadcast(c, x, n, root)   -> x on every rank is what x was on rank `root` of c
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"

namespace dimesh::collective {

/// In place; or, with `later`, begins to. Payload: n elements on the root, nothing elsewhere.
template <class T>
void broadcast(const dimesh::detail::communicator& c, T* x, index_t n, int root,
               index_t limit = most_per_call<T>, requests* later = nullptr) {
  if (c.size() == 1 || n == 0) return;
  prepare(c, "broadcast", n, wire_of<T>);
  const told here(event_kind::broadcast, c, c.rank() == root ? n * wire_of<T>.size : 0,
                  n * wire_of<T>.size);
  for (index_t at = 0; at < n; at += limit) {
    const auto count = static_cast<int>((limit < n - at ? limit : n - at) * element<T>::units);
    const MPI_Datatype type = element<T>::type();
    staged near(later);
    T* const part =
        near.writes(x + at, count / element<T>::units * wire_of<T>.size, c.rank() == root);
    dimesh::detail::check(
        make({dense::broadcast, part, part, count, type, MPI_OP_NULL, c.handle(), root}, later),
        "broadcast");
    if (c.rank() != root) near.bring();
  }
}

}  // namespace dimesh::collective

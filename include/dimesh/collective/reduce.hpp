// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one rank get a sum over ranks? The others only give.
//
//   reduce(c, x, y, n, root)   -> y[i] on rank `root` of c is the sum over its ranks of x[i]
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

/// y[0..n) on `root` becomes the sum over the ranks of c of x[0..n), elements that travel as w; y
/// is not read, and elsewhere not written; or, with `later`, begins to. Payload: n elements.
void reduce_elements(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                     std::byte* y, index_t n, int root, index_t limit, requests* later = nullptr);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void reduce_elements(const dimesh::detail::communicator& c, const wire& w,
                                           const std::byte* x, std::byte* y, index_t n, int root,
                                           index_t limit, requests* later) {
  if (c.size() == 1) return copy(x, y, n * w.size);
  if (n == 0) return;
  prepare(c, "reduce", n, w);
  const told here(event_kind::reduce, c, n * w.size);
  for (index_t at = 0; at < n; at += limit) {
    const auto count = static_cast<int>(limit < n - at ? limit : n - at);
    staged near = staged::of_sums(later, is_own_operation(w.kind, reduction::sum));
    std::byte* const to = c.rank() == root ? near.writes(y + at * w.size, count * w.size) : nullptr;
    const MPI_Op sum = operation(w.kind, reduction::sum);
    const std::byte* const from = near.reads(x + at * w.size, count * w.size);
    dimesh::detail::check(
        make({dense::reduce, from, to, count, w.type(), sum, c.handle(), root}, later), "reduce");
    near.bring();
  }
}
#endif

/// The same of elements whose type is known.
template <class T>
void reduce(const dimesh::detail::communicator& c, const T* x, T* y, index_t n, int root,
            index_t limit = most_per_call<T>, requests* later = nullptr) {
  static_assert(element<T>::reducible,
                "collective: MPI cannot reduce this element type; cast first");
  reduce_elements(c, wire_of<T>, bytes_of(x), bytes_of(y), n, root, limit, later);
}

}  // namespace dimesh::collective

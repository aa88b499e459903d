// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do two ranks exchange any number of elements? In messages that MPI can count: the way out for
// every collective whose counts are beyond an int, and the whole of a shift.
//
//   exchange(c, out, n_out, to, in, n_in, from, "shift")   -> in holds what `from` sent
#pragma once

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

/// Sends n_out elements to rank `to` and receives n_in elements from rank `from`; a count of zero
/// sends (receives) nothing at all. They travel as w, at most `limit` elements in one message.
void exchange_elements(const dimesh::detail::communicator& c, const wire& w, const std::byte* out,
                       index_t n_out, int to, std::byte* in, index_t n_in, int from,
                       const char* call, index_t limit);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void exchange_elements(const dimesh::detail::communicator& c, const wire& w,
                                             const std::byte* out, index_t n_out, int to,
                                             std::byte* in, index_t n_in, int from,
                                             const char* call, index_t limit) {
  while (n_out > 0 || n_in > 0) {
    const index_t sending = n_out < limit ? n_out : limit;
    const index_t receiving = n_in < limit ? n_in : limit;
    staged near;
    const std::byte* const from_here = near.reads(out, sending * w.size);
    std::byte* const to_here = near.writes(in, receiving * w.size);
    dimesh::detail::check(
        MPI_Sendrecv(from_here, static_cast<int>(sending * w.units()), w.type(),
                     sending > 0 ? to : MPI_PROC_NULL, 0, to_here,
                     static_cast<int>(receiving * w.units()), w.type(),
                     receiving > 0 ? from : MPI_PROC_NULL, 0, c.handle(), MPI_STATUS_IGNORE),
        call);
    near.bring();
    out += sending * w.size, n_out -= sending;
    in += receiving * w.size, n_in -= receiving;
  }
}
#endif

/// The same of elements whose type is known.
template <class T>
void exchange(const dimesh::detail::communicator& c, const T* out, index_t n_out, int to, T* in,
              index_t n_in, int from, const char* call, index_t limit = most_per_call<T>) {
  exchange_elements(c, wire_of<T>, bytes_of(out), n_out, to, bytes_of(in), n_in, from, call, limit);
}

/// Every rank sends the run send[r] of x to rank r, pair by pair; its own part is skipped.
template <class T>
void exchange_all(const dimesh::detail::communicator& c, const T* x, const run* send, T* y,
                  const run* receive, const char* call, index_t limit = most_per_call<T>) {
  const int n = c.size(), me = c.rank();
  for (int k = 1; k < n; ++k) {
    const run &out = send[(me + k) % n], &in = receive[(me + n - k) % n];
    exchange(c, x + out.at, out.count, (me + k) % n, y + in.at, in.count, (me + n - k) % n, call,
             limit);
  }
}

}  // namespace dimesh::collective

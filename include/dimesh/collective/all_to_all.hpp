// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does every rank give every other a part of its own?
//
//   all_to_all_v(c, x, send, y, receive, most)   -> runs of any length, at any place
#pragma once

#include "dimesh/collective/point.hpp"

namespace dimesh::collective {

/// Parts of any length anywhere: rank r gets send[r] from x and its part goes to receive[r] of y.
/// Runs of the own part are empty: it is not sent. `most` is at least the end of any run on any
/// rank, and the same on all. Payload: what is sent.
template <class T>
void all_to_all_v(const dimesh::detail::communicator& c, const T* x, const run* send, T* y,
                  const run* receive, index_t most, index_t limit = most_per_call<T>) {
  if (c.size() == 1 || most == 0) return;
  prepare(c, "all_to_all", most, wire_of<T>);
  const told here(event_kind::all_to_all, c, bytes_in<T>(send, c.size()),
                  bytes_in<T>(receive, c.size()));
  if (most > limit) return exchange_all(c, x, send, y, receive, "all_to_all", limit);
  auto& ints = detail::int_arrays::instance(c.size());
  detail::to_int(element<T>::units, send, c.size(), ints.send_count, ints.send_at);
  detail::to_int(element<T>::units, receive, c.size(), ints.receive_count, ints.receive_at);
  dimesh::detail::check(MPI_Alltoallv(x, ints.send_count.data(), ints.send_at.data(),
                                      element<T>::type(), y, ints.receive_count.data(),
                                      ints.receive_at.data(), element<T>::type(), c.handle()),
                        "all_to_all");
}

}  // namespace dimesh::collective

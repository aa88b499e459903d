// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a rank exchange parts with the few others it has business with? By messages that are all
// under way together; nobody else takes part.
//
//   exchange_some(c, x, sends, y, receives)   -> y holds, run by run, what the others sent
#pragma once

#include "dimesh/collective/element.hpp"

namespace dimesh::collective {

/// A run of a buffer, for or from rank `peer`.
struct message {
  int peer = 0;
  run part;
};

/// Sends and receives runs; between two ranks they match in order. Payload: what is sent.
template <class T>
void exchange_some(const dimesh::detail::communicator& c, const T* x,
                   const std::vector<message>& sends, T* y, const std::vector<message>& receives,
                   const char* call, index_t limit = most_per_call<T>) {
  prepare(c, call, 0);
  thread_local std::vector<MPI_Request> requests;
  requests.clear();
  const auto for_each_message = [limit](const std::vector<message>& messages, const auto& f) {
    for (const message& m : messages)
      for (index_t at = 0; at < m.part.count; at += limit) {
        const index_t n = limit < m.part.count - at ? limit : m.part.count - at;
        f(m.peer, m.part.at + at, static_cast<int>(n * element<T>::units));
      }
  };
  for_each_message(receives, [&](int peer, index_t at, int n) {
    requests.push_back(MPI_REQUEST_NULL);
    dimesh::detail::check(
        MPI_Irecv(y + at, n, element<T>::type(), peer, 0, c.handle(), &requests.back()), call);
  });
  for_each_message(sends, [&](int peer, index_t at, int n) {
    requests.push_back(MPI_REQUEST_NULL);
    dimesh::detail::check(
        MPI_Isend(x + at, n, element<T>::type(), peer, 0, c.handle(), &requests.back()), call);
  });
  dimesh::detail::check(
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), call);
}

}  // namespace dimesh::collective

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a rank exchange parts with the few others it has business with? By messages that are all
// under way together; nobody else takes part.
//
//   exchange_some(c, x, sends, y, receives, "shift", {&out, &in})   -> y holds what the others sent
#pragma once

#include <initializer_list>

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::collective {

/// A run of a buffer, for or from rank `peer`.
struct message {
  int peer = 0;
  run part;
};

/// Starts to send and receive runs of elements that travel as w, at most `limit` of them in one
/// message, under a tag of the call's own; between two ranks they match in order. Payload: what is
/// sent.
void start_exchange_some(const dimesh::detail::communicator& c, const wire& w, const std::byte* x,
                         const std::vector<message>& sends, std::byte* y,
                         const std::vector<message>& receives, const char* call, int tag,
                         index_t limit, requests& under);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void start_exchange_some(const dimesh::detail::communicator& c, const wire& w,
                                               const std::byte* x,
                                               const std::vector<message>& sends, std::byte* y,
                                               const std::vector<message>& receives,
                                               const char* call, int tag, index_t limit,
                                               requests& under) {
  // Kernels pack what is sent, and may still read what is written: MPI waits for none of them.
  if constexpr (!dimesh::detail::hosts_only) Kokkos::fence();
  // What is staged goes through other memory each time.
  if (under.repeated() != nullptr &&
      under.start_again(x, y, call, dimesh::detail::watcher != nullptr || stages()))
    return;
  staged near(&under);  // of all messages: what it copies, they keep
  const MPI_Datatype type = w.type();
  const auto for_each_message = [limit, &w](const std::vector<message>& messages, const auto& f) {
    for (const message& m : messages)
      for (index_t at = 0; at < m.part.count; at += limit)
        f(m.peer, (m.part.at + at) * w.size, limit < m.part.count - at ? limit : m.part.count - at);
  };
  for_each_message(receives, [&](int peer, index_t at, index_t n) {
    std::byte* const to = near.writes(y + at, n * w.size);
    near.bring();
    dimesh::detail::check(
        under.receive(to, static_cast<int>(n * w.units()), type, peer, tag, c.handle()), call);
  });
  if (dimesh::detail::watcher != nullptr) [[unlikely]]
    for (const message& m : sends) const told one(event_kind::message, c, m.part.count * w.size);
  for_each_message(sends, [&](int peer, index_t at, index_t n) {
    dimesh::detail::check(under.send(near.reads(x + at, n * w.size),
                                     static_cast<int>(n * w.units()), type, peer, tag, c.handle()),
                          call);
  });
}
#endif

/// What holds the memory that messages read and write; where an exception passes, until they end.
using kept_memory = std::initializer_list<const dimesh::detail::storage*>;

/// The same, and waits for all.
void exchange_some_elements(const dimesh::detail::communicator& c, const wire& w,
                            const std::byte* x, const std::vector<message>& sends, std::byte* y,
                            const std::vector<message>& receives, const char* call,
                            kept_memory memory, index_t limit);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void exchange_some_elements(const dimesh::detail::communicator& c,
                                                  const wire& w, const std::byte* x,
                                                  const std::vector<message>& sends, std::byte* y,
                                                  const std::vector<message>& receives,
                                                  const char* call, kept_memory memory,
                                                  index_t limit) {
  prepare(c, call, 0, w);
  const int tag = c.next_tag();
  thread_local requests kept;
  struct ending {  // an exception leaves nothing behind that MPI writes to
    requests& of;
    kept_memory memory;
    bool passes = true;
    ~ending() {
      if (!passes) return;
      if (!of.empty())
        for (const dimesh::detail::storage* m : memory) of.keep(*m);
      of.give_up();
    }
  } exception{kept, memory};
  kept.expect(memory.size());
  start_exchange_some(c, w, x, sends, y, receives, call, tag, limit, kept);
  kept.wait(call);
  exception.passes = false;
}
#endif

/// The same of elements whose type is known.
template <class T>
void exchange_some(const dimesh::detail::communicator& c, const T* x,
                   const std::vector<message>& sends, T* y, const std::vector<message>& receives,
                   const char* call, kept_memory memory = {}, index_t limit = most_per_call<T>) {
  exchange_some_elements(c, wire_of<T>, bytes_of(x), sends, bytes_of(y), receives, call, memory,
                         limit);
}

}  // namespace dimesh::collective

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What did, or will, one rank of a mesh do? All its events in their order, with the mesh whose axes
// they name. `events_of` (grad/cost.hpp) makes one of a call on shapes; show/events.hpp prints it.
//
//   const auto log = events_of(step{}, shapes...);
//   log.events.size();   log.total().bytes<cols>();   log.ranks(log.events[3])   -> 4
#pragma once

#include "dimesh/ledger/ledger.hpp"

namespace dimesh {

template <Mesh M> struct event_log {
  mesh_sizes<M> sizes{};
  std::vector<event> events{};

  /// How many ranks take part in a collective.
  constexpr index_t ranks(const event& e) const {
    index_t n = 1;
    for (std::size_t a = 0; a < sizes.size.size(); ++a)
      if (e.axes >> a & 1u) n *= sizes.size[a];
    return n;
  }
  /// Their sum: the ledger that `count` gives for the same call.
  constexpr ledger<M> total() const {
    ledger<M> l;
    for (const event& e : events) l.counts.enter(e);
    return l;
  }
  /// Tells them to another sink.
  constexpr void replay(event_sink& to) const {
    for (const event& e : events) to.take(e);
  }
};

}  // namespace dimesh

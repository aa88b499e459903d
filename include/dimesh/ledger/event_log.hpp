// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What did, or will, one rank of a mesh do? All its events in their order, with the mesh whose axes
// they name. `events_of` (grad/cost.hpp) makes one of a call on shapes; show/events.hpp prints it.
//
//   const auto log = events_of(step{}, shapes...);
//   log.events.size();   log.total().bytes<cols>();   log.ranks(log.events[3])   -> 4
#pragma once

#include <string>
#include <vector>

#include "dimesh/detail/names.hpp"
#include "dimesh/ledger/ledger.hpp"

namespace dimesh {

/// A mesh where its type is lost.
struct mesh_note {
  std::uint64_t number = 0;  ///< mesh_number<M>
  std::vector<std::string> axes{};
  std::vector<index_t> sizes{};

  template <Mesh M> static mesh_note of(const mesh_sizes<M>& s) {
    return {mesh_number<M>, detail::names_of(typename M::axes{}),
            std::vector<index_t>(s.size.begin(), s.size.end())};
  }
};

template <Mesh M> struct event_log {
  mesh_sizes<M> sizes{};
  std::vector<event> events{};
  std::vector<mesh_note> others{};  ///< further meshes whose axes events may name

  /// The mesh whose axes an event names; null where nobody said it.
  const mesh_note* other_mesh(const event& e) const {
    for (const mesh_note& o : others)
      if (e.mesh == o.number) return &o;
    return nullptr;
  }
  static constexpr bool is_here(const event& e) { return e.mesh == 0 || e.mesh == mesh_number<M>; }
  /// How many ranks take part in a collective; 0 where it is on a mesh that is not known.
  constexpr index_t ranks(const event& e) const {
    if (is_here(e)) return product(sizes.size, e.axes);
    const mesh_note* const o = other_mesh(e);
    return o == nullptr ? 0 : product(o->sizes, e.axes);
  }
  /// Their sum: the ledger that `count` gives for the same call.
  constexpr ledger<M> total() const {
    ledger<M> l;
    l.counts.home = mesh_number<M>;
    for (const event& e : events) l.counts.enter(e);
    return l;
  }
  /// Tells them to another sink.
  constexpr void replay(event_sink& to) const {
    for (const event& e : events) to.take(e);
  }

 private:
  template <class Sizes> static constexpr index_t product(const Sizes& s, unsigned axes) {
    index_t n = 1;
    for (std::size_t a = 0; a < s.size(); ++a)
      if (axes >> a & 1u) n *= s[a];
    return n;
  }
};

}  // namespace dimesh

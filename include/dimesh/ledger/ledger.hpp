// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a computation cost one rank? A ledger counts floating-point operations, bytes through
// local memory, live tensor bytes, and for every set of mesh axes the messages and bytes of the
// collectives over it. It is filled by running the program on tensors without data. Operations
// report events (event.hpp); the ledger is their sum. Where a program uses several meshes, each has
// its own axes:
//
//   l.bytes<cols>()       payload handed to MPI in collectives whose group includes axis cols
//   l.bytes<>()           payload of all collectives
//   l.ring_bytes<cols>()  bytes a ring algorithm sends for them
//   l.on<experts>().bytes<owners>()   the same of the axes of another mesh
#pragma once

#include <array>

#include "dimesh/error.hpp"
#include "dimesh/ledger/event.hpp"
#include "dimesh/mesh.hpp"

namespace dimesh {

/// The traffic over one set of axes.
struct traffic {
  index_t bytes = 0;  ///< payload: what the rank hands to MPI
  index_t ring_bytes = 0;  ///< what the rank sends under a ring algorithm
  index_t calls = 0;  ///< collective calls
  constexpr bool operator==(const traffic&) const = default;
};

namespace detail {
/// The part that knows no axis names; what operations write to. It adds up, and passes each event
/// on to a sink if there is one.
struct tally {
  index_t flops = 0, moved = 0, live = 0, peak = 0;
  std::array<traffic, 1u << max_axes> over{};  // by mask of axes
  event_sink* sink = nullptr;
  static constexpr std::array<index_t, max_axes> anywhere() {
    std::array<index_t, max_axes> s{};
    s.fill(-1);
    return s;
  }
  /// The rank whose cost this is, among those that hold tensors at different places: its coordinate
  /// along each axis, or -1 for one that holds them all.
  std::array<index_t, max_axes> seat = anywhere();
  /// The coordinates of the rank whose blocks shapes have; null: of the one at the origin.
  const index_t* block_coords = nullptr;
  bool takes_captured = false;  // data that a function has captured count as shapes
  std::uint64_t home = 0;  // the mesh of those axes; 0: whichever there is
  std::uint64_t mesh = 0;  // that of what is entered from here on; 0: home

  /// The traffic over axes of other meshes.
  struct elsewhere {
    std::uint64_t mesh = 0;
    unsigned axes = 0;
    traffic sent;
    constexpr bool operator==(const elsewhere&) const = default;
  };
  static constexpr std::size_t most_elsewhere = 32;
  std::array<elsewhere, most_elsewhere> others{};

  constexpr void compute(index_t floating_point_operations, index_t bytes_of_memory) {
    flops += floating_point_operations;
    moved += bytes_of_memory;
    if (sink != nullptr) tell_compute(floating_point_operations, bytes_of_memory);
  }
  constexpr void collective(event_kind kind, unsigned axes, index_t bytes, index_t ring_bytes) {
    traffic& t = home == 0 || mesh == 0 || mesh == home ? over[axes] : other(axes);
    t.bytes += bytes;
    t.ring_bytes += ring_bytes;
    ++t.calls;
    if (sink != nullptr) tell_collective(kind, axes, bytes, ring_bytes);
  }
  /// Of a kind that the operation does not say.
  constexpr void collective(unsigned axes, index_t bytes, index_t ring_bytes) {
    collective(event_kind::collective, axes, bytes, ring_bytes);
  }
  constexpr void hold(index_t bytes) {
    live += bytes;
    if (live > peak) peak = live;
    if (sink != nullptr) tell_memory(bytes);
  }
  /// Memory that a kernel takes while it runs, beside its results.
  constexpr void room(index_t bytes) {
    hold(bytes);
    hold(-bytes);
  }
  /// What an event says: from all events of a run comes its tally.
  constexpr void enter(const event& e) {
    mesh = e.mesh;
    if (e.kind == event_kind::compute)
      compute(e.flops, e.moved);
    else if (e.part == event_part::finish)
      return;  // its start has said all
    else if (is_communication(e.kind))
      collective(e.kind, e.axes, e.bytes, e.ring_bytes);
    else
      hold(e.memory);
  }

 private:
  /// Throws dimesh::error beyond so many sets of axes.
  [[gnu::noinline]] constexpr traffic& other(unsigned axes) {
    for (elsewhere& o : others) {
      if (o.mesh == 0) o.mesh = mesh, o.axes = axes;
      if (o.mesh == mesh && o.axes == axes) return o.sent;
    }
    throw error("ledger: collectives over more than 32 sets of axes of other meshes; count parts");
  }
  [[gnu::noinline]] constexpr void tell_compute(index_t n, index_t bytes) const {
    event e;
    e.flops = n;
    e.moved = bytes;
    sink->report(e);
  }
  [[gnu::noinline]] constexpr void tell_collective(event_kind kind, unsigned axes, index_t bytes,
                                                   index_t ring_bytes) const {
    event e;
    e.kind = kind;
    e.axes = axes;
    e.mesh = mesh;
    e.bytes = bytes;
    e.ring_bytes = ring_bytes;
    sink->report(e);
  }
  [[gnu::noinline]] constexpr void tell_memory(index_t bytes) const {
    event e;
    e.kind = bytes < 0 ? event_kind::release : event_kind::acquire;
    e.memory = bytes;
    e.live = live;
    sink->report(e);
  }
};
}  // namespace detail

namespace detail {
/// The first name that is no axis of mesh M.
template <class M, class... A>
using axes_fault = typename first_of<std::conditional_t<
    !Axis<A>, not_an_axis<A>,
    std::conditional_t<(axis_index<M, A> < 0), axis_not_in_mesh<A, M>, no_fault>>...>::type;
}  // namespace detail

/// The cost of a computation on one rank of mesh M (the rank whose blocks are largest, and which
/// holds whatever lives at one place, unless it was counted for another: count_at).
template <Mesh M> struct ledger {
  detail::tally counts{};

  constexpr index_t flops() const { return counts.flops; }  ///< multiply-add = 2
  constexpr index_t moved() const { return counts.moved; }  ///< bytes read and written locally
  constexpr index_t peak() const {
    return counts.peak;
  }  ///< bytes of tensors alive at once, at most

  /// The same cost, by the axes of another mesh: what is asked of it is the traffic over those.
  template <Mesh Other> constexpr ledger<Other> on() const {
    ledger<Other> l{counts};
    l.counts.others = {};
    l.counts.home = mesh_number<Other>;
    if constexpr (std::is_same_v<Other, M>) return l;
    l.counts.over = {};
    for (const auto& o : counts.others)
      if (o.mesh == mesh_number<Other>) l.counts.over[o.axes] = o.sent;
    return l;
  }
  /// The traffic of collectives over exactly these axes.
  template <class... A> constexpr traffic exactly() const { return counts.over[mask<A...>()]; }

  /// Over all sets of axes that include A..., and with none all that there is, on other meshes too.
  template <class... A> constexpr index_t bytes() const {
    return sum(mask<A...>(), &traffic::bytes);
  }
  template <class... A> constexpr index_t ring_bytes() const {
    return sum(mask<A...>(), &traffic::ring_bytes);
  }
  template <class... A> constexpr index_t calls() const {
    return sum(mask<A...>(), &traffic::calls);
  }

 private:
  template <class... A> static constexpr unsigned mask() {
    using fault = detail::axes_fault<M, A...>;
    static_assert(ok<only<fault, not_an_axis>>,
                  "ledger: axes stand in the angle brackets: bytes<rows>()");
    static_assert(ok<only<fault, axis_not_in_mesh>>,
                  "ledger: this axis is not in the mesh; name one that is");
    if constexpr (ok<fault>)
      return ((1u << axis_index<M, A>) | ... | 0u);
    else
      return 0;
  }
  /// Over all sets of axes that include those wanted.
  constexpr index_t sum(unsigned wanted, index_t traffic::* what) const {
    index_t total = 0;
    for (unsigned set = 1; set < (1u << M::rank); ++set)
      if ((set & wanted) == wanted) total += counts.over[set].*what;
    if (wanted == 0)
      for (const auto& o : counts.others) total += o.sent.*what;
    return total;
  }
};

/// A ledger holds many numbers.
template <class Stream, Mesh M>
  requires requires(Stream& out) { out.flush(); }
constexpr Stream& operator<<(Stream& out, const ledger<M>&) {
  static_assert(ok<not_a_tensor<ledger<std::type_identity_t<M>>>>,
                "ledger: it holds many numbers; print those that are meant: l.bytes<rows>(), "
                "l.flops(), l.peak()");
  return out;
}

}  // namespace dimesh

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long might it take? A sink that gives each event its time on a simple machine: a message has
// a latency (alpha) and a time for each byte (beta); the rest takes as long as arithmetic or
// memory, whichever is slower. Nothing overlaps, and links are not shared: it compares layouts, and
// is no clock.
//
//   time_estimate t(machine{}, log.sizes);   log.replay(t);
//   t.seconds();   t.of(event_kind::all_reduce).latencies, .bytes, .seconds
//
// Latencies of ring and pairwise algorithms: Chan, Heimlich, Purkayastha and van de Geijn 2007,
// "Collective communication: theory, practice, and experience".
#pragma once

#include <array>

#include "dimesh/error.hpp"
#include "dimesh/ledger/event.hpp"
#include "dimesh/mesh.hpp"

namespace dimesh {

/// What one rank can do. In seconds, and per second.
struct machine {
  double latency = 2e-6;  ///< of a message
  double bandwidth = 1e10;  ///< bytes that a rank sends
  double flops = 1e11;
  double memory_bandwidth = 2e10;  ///< bytes
};

/// The events of one kind together.
struct time_share {
  index_t events = 0;
  index_t latencies = 0;  ///< messages that wait for one another
  index_t bytes = 0;  ///< sent, or through memory
  double seconds = 0;
};

class time_estimate final : public event_sink {
 public:
  template <Mesh M>
  constexpr time_estimate(const machine& m, const mesh_sizes<M>& sizes)
      : machine_(m), home_(mesh_number<M>) {
    for (std::size_t a = 0; a < sizes.size.size(); ++a) sizes_[a] = sizes.size[a];
  }
  /// Another mesh whose collectives will come: up to 7. Those of meshes that it is not told of have
  /// bytes, but no latency.
  template <Mesh M> constexpr time_estimate& also(const mesh_sizes<M>& sizes) {
    if (others_ == most_others) throw error("time_estimate: too many meshes; 8 are supported");
    other& o = other_[others_++];
    o.mesh = mesh_number<M>;
    for (std::size_t a = 0; a < sizes.size.size(); ++a) o.sizes[a] = sizes.size[a];
    return *this;
  }
  constexpr void take(const event& e) override {
    if (e.part == event_part::finish) return;  // its start has said all
    time_share& s = shares_[static_cast<std::size_t>(e.kind)];
    ++s.events;
    if (is_communication(e.kind)) {
      const index_t hops = latencies(e);
      s.latencies += hops;
      s.bytes += e.ring_bytes;
      s.seconds += static_cast<double>(hops) * machine_.latency +
                   static_cast<double>(e.ring_bytes) / machine_.bandwidth;
    } else if (e.kind == event_kind::compute) {
      const double arithmetic = static_cast<double>(e.flops) / machine_.flops,
                   memory = static_cast<double>(e.moved) / machine_.memory_bandwidth;
      s.bytes += e.moved;
      s.seconds += arithmetic > memory ? arithmetic : memory;
    }
  }
  constexpr const time_share& of(event_kind k) const {
    return shares_[static_cast<std::size_t>(k)];
  }
  constexpr double seconds() const {
    double all = 0;
    for (const time_share& s : shares_) all += s.seconds;
    return all;
  }

 private:
  constexpr index_t latencies(const event& e) const {
    const auto* sizes = e.mesh == 0 || e.mesh == home_ ? &sizes_ : nullptr;
    for (std::size_t i = 0; i < others_; ++i)
      if (other_[i].mesh == e.mesh) sizes = &other_[i].sizes;
    index_t ranks = sizes == nullptr ? 0 : 1;
    for (std::size_t a = 0; ranks > 0 && a < sizes_.size(); ++a)
      if (e.axes >> a & 1u) ranks *= (*sizes)[a];
    if (e.kind == event_kind::message) return 1;
    if (ranks < 1) return 0;
    return e.kind == event_kind::all_reduce ? 2 * (ranks - 1) : ranks - 1;
  }
  machine machine_;
  std::uint64_t home_;  // the mesh of sizes_
  std::array<index_t, max_axes> sizes_{};
  struct other {
    std::uint64_t mesh = 0;
    std::array<index_t, max_axes> sizes{};
  };
  static constexpr std::size_t most_others = 7;
  other other_[most_others]{};
  std::size_t others_ = 0;
  std::array<time_share, event_kinds> shares_{};
};

}  // namespace dimesh

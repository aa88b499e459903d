// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if ranks must stand in another order than their grid's? A scan wants the order of a dim's
// blocks, which need not be that of the mesh's axes, or from the last block to the first. Such
// communicators are made when they are first asked for, and kept.
//
//   ordered_communicators all;
//   all.of(members, key, seat)   -> the same ranks by their seats; one communicator for each key
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>

#include "dimesh/collective/communicator.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/waiting.hpp"

namespace dimesh::detail {

class ordered_communicators {
 public:
  /// The first use of a key is collective over the members, who compare keys in checked builds.
  /// Threads may ask at the same time.
  const communicator& of(const communicator& members, std::uint64_t key, index_t seat);
  void clear() { places_.clear(); }

 private:
  struct place {
    explicit place(std::uint64_t k) : key(k) {}
    std::uint64_t key;
    std::atomic<const communicator*> made{nullptr};
    std::mutex making;
    std::unique_ptr<communicator> owner;
  };
  place& place_of(std::uint64_t key);
  /// In checked builds: of the same ranks by their seats. Its number comes from that of the
  /// members, on which all ranks agree: threads that use several grids at once make them in any
  /// order.
  static meeting* meeting_of(MPI_Comm made, const communicator& members, std::uint64_t key);
  std::mutex adding_;
  std::list<place> places_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline const communicator& ordered_communicators::of(const communicator& members,
                                                                    std::uint64_t key,
                                                                    index_t seat) {
  place& p = place_of(key);
  if (const communicator* c = p.made.load(std::memory_order_acquire)) return *c;
  const std::lock_guard lock(p.making);
  if (!p.owner) {
    const waiting here("grid");
    MPI_Comm made = MPI_COMM_NULL;
    members.agree("grid", static_cast<index_t>(key), 0);
    check(MPI_Comm_split(members.handle(), 0, static_cast<int>(seat), &made), "grid");
    p.owner = std::make_unique<communicator>(made, members.axes(), members.mesh(),
                                             meeting_of(made, members, key));
    p.made.store(p.owner.get(), std::memory_order_release);
  }
  return *p.owner;
}
DIMESH_OUTLINE inline ordered_communicators::place& ordered_communicators::place_of(
    std::uint64_t key) {
  const std::lock_guard lock(adding_);
  for (place& p : places_)
    if (p.key == key) return p;
  return places_.emplace_back(key);
}
DIMESH_OUTLINE inline meeting* ordered_communicators::meeting_of(
    [[maybe_unused]] MPI_Comm made, [[maybe_unused]] const communicator& members,
    [[maybe_unused]] std::uint64_t key) {
#ifdef DIMESH_CHECKED
  if (const meeting* const m = members.met(); m != nullptr)
    return meeting::of(made, m->name(), nullptr, m->number_for(key)).release();
#endif
  return nullptr;
}
#endif

}  // namespace dimesh::detail

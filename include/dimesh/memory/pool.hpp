// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tensors get their memory? From lists of free buffers, by size: after the first step of
// a training loop nothing is allocated any more. Each memory space has a pool of its own.
//
//   buffer* b = pool::of(space_of<near>).acquire(4096);   // uninitialised, 64-byte aligned
//   b->home->release(b);
//
// A device's kernels run one after the other: scratch memory may go back while they wait to.
//
// Of the threads that compute, the first has free lists of its own: what it takes and gives back
// costs no lock. All others share theirs. What another thread has taken goes back to these, by
// whichever thread: one that makes batches finds their buffers again. So do all when it ends.
//
// Where it spoils them, buffers are given out full of 0xff, which is NaN, or -1: an element that no
// kernel wrote is then seen. It does so with DIMESH_CHECKED, and where tests tell it to.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/detail/this_thread.hpp"
#include "dimesh/error.hpp"
#include "dimesh/ledger/event.hpp"
#include "dimesh/memory/buffer.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/free_buffers.hpp"
#include "dimesh/memory/slab.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::detail {

class pool {
 public:
  explicit pool(const space_facts* s) : space_(s) {}
  /// Of the default memory space.
  static pool& instance() {
    pool* const it = default_.load(std::memory_order_acquire);
    return it != nullptr ? *it : make_default();
  }
  static pool& of(const space_facts* s) { return s == nullptr ? instance() : s->buffers(); }
  const space_facts* space() const { return space_; }

  // Where a free buffer is there and nobody listens, nothing else is called.
  buffer* acquire(std::size_t bytes) {
    if (!is(spoils_) && watcher == nullptr && is_owner()) [[likely]] {
      buffer* const b = own_.take(slot_of_size(bytes));
      if (b != nullptr) [[likely]] {
        b->of_owner = true;
        hand_out(b, bytes, own_live_);
        return b;
      }
    }
    return acquire_slowly(bytes);
  }

  /// A part of a buffer, with owners of its own.
  buffer* part_of(buffer* whole);
  /// A record of memory that is not the pool's.
  buffer* borrow(void* data, lent how, std::shared_ptr<const void> keeps);

  void release(buffer* b) {
    if (!b->of_owner || watcher != nullptr || !is_owner() || is(drained_)) [[unlikely]]
      return release_slowly(b);
    own_live_.set(own_live_.get() - static_cast<index_t>(b->asked));
    own_.put(b);
  }

  /// (Threads that make batches take buffers, too: while they do so, the peak is about right.)
  pool_figures figures() {
    const std::lock_guard lock(lock_);
    return {live(), std::max(peak_.get(), live()), allocations_};
  }
  void restart_peak() {
    const std::lock_guard lock(lock_);
    peak_.set(live());
  }

  /// Are buffers spoilt before they are given out, from now on?
  void spoil_fresh(bool on) { spoils_ = on; }

 private:
  static pool& make_default();
  static inline constinit std::atomic<pool*> default_{nullptr};

  buffer* acquire_slowly(std::size_t bytes);
  void release_slowly(buffer* b);
  void take_back(buffer* b);
  static bool is(const std::atomic<bool>& flag) { return flag.load(std::memory_order_relaxed); }
  bool is_owner() const { return owner_.load(std::memory_order_relaxed) == &this_thread; }
  index_t live() const { return own_live_.get() + shared_live_.get(); }
  /// Whose live bytes these are: the owner's, or those of all others, who hold the lock.
  void hand_out(buffer* b, std::size_t bytes, one_writers_number& live_there) {
    b->asked = bytes;
    b->owners.store(1, std::memory_order_relaxed);
    live_there.set(live_there.get() + static_cast<index_t>(bytes));
    if (live() > peak_.get()) peak_.set(live());
  }
  /// A record of no memory of its own.
  buffer* record();
  /// Its memory is as its last owner left it.
  buffer* take(std::size_t bytes);

  /// Memory of the space; where it has none left, once more without the free buffers.
  void* take_anew(std::size_t bytes);
  /// Gives free buffers back to the space. Returns their bytes.
  std::size_t free_all(bool those_of_slabs);
  void drain();
  friend struct owned_pools;
  /// Its lists are this thread's, until that ends. The lock is held.
  void become_own();
  void become_everybodys();

  const space_facts* space_;  // null: the default one
  std::atomic<const thread_work*> owner_{nullptr};  // its thread's mark
  pool* next_owned_ = nullptr;  // by the same thread
  bool hooked_ = false;
  std::atomic<bool> drained_{false};
#ifdef DIMESH_CHECKED
  std::atomic<bool> spoils_{true};
#else
  std::atomic<bool> spoils_{false};
#endif
  one_writers_number own_live_, peak_;
  free_buffers own_;  // of the owner
  short_lock lock_;  // of what follows
  free_buffers shared_;
  buffer* parts_ = nullptr;  // free records of parts
  slabs slabs_;
  one_writers_number shared_live_;
  index_t allocations_ = 0;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline pool& pool::make_default() {
  static pool* it = new pool(nullptr);  // never destroyed: handles may outlive static destructors
  default_.store(it, std::memory_order_release);
  return *it;
}
DIMESH_OUTLINE inline buffer* pool::acquire_slowly(std::size_t bytes) {
  buffer* const b = take(bytes);
  if (spoils_) facts_of_space(space_).set(b->data, 0xff, bytes);
  if (watcher != nullptr) [[unlikely]]
    report_memory(*watcher, static_cast<index_t>(bytes), live());
  return b;
}
DIMESH_OUTLINE inline buffer* pool::part_of(buffer* whole) {
  whole->owners.fetch_add(1, std::memory_order_relaxed);
  buffer* const b = record();
  b->whole = whole;
  b->from_program = whole->from_program;
  return b;
}
DIMESH_OUTLINE inline buffer* pool::borrow(void* data, lent how,
                                           std::shared_ptr<const void> keeps) {
  buffer* const b = record();
  b->data = data;
  b->whole = nullptr;
  b->from_program = how;
  b->keeps = std::move(keeps);
  return b;
}
DIMESH_OUTLINE inline void pool::release_slowly(buffer* b) {
  const auto bytes = static_cast<index_t>(b->asked);
  const bool ends = b->whole == nullptr && b->from_program == lent::no;
  const std::shared_ptr<const void> kept = std::move(b->keeps);  // ends after the lock
  take_back(b);
  if (ends && watcher != nullptr) [[unlikely]]
    report_memory(*watcher, -bytes, live());
}
inline void pool::take_back(buffer* b) {
  const std::lock_guard lock(lock_);
  if (b->whole != nullptr || b->from_program != lent::no) {
    b->next = parts_;
    parts_ = b;
    return;
  }
  const bool owns = is_owner();
  one_writers_number& live_here = owns ? own_live_ : shared_live_;
  live_here.set(live_here.get() - static_cast<index_t>(b->asked));
  if (drained_)
    delete b;  // Kokkos has ended and taken the memory back
  else
    (owns && b->of_owner ? own_ : shared_).put(b);
}
DIMESH_OUTLINE inline buffer* pool::record() {
  const std::lock_guard lock(lock_);
  buffer* b = parts_;
  if (b != nullptr)
    parts_ = b->next;
  else
    b = new buffer;
  b->home = this;
  b->of_owner = false;
  b->owners.store(1, std::memory_order_relaxed);
  return b;
}
inline buffer* pool::take(std::size_t bytes) {
  const int slot = slot_of_size(bytes);
  const std::lock_guard lock(lock_);
  if (this_thread == thread_work::computes && owner_.load(std::memory_order_relaxed) == nullptr)
    become_own();
  const bool owns = is_owner();
  buffer* b = owns ? own_.take(slot) : nullptr;
  if (b == nullptr) b = shared_.take(slot);
  if (b == nullptr) {
    if (!Kokkos::is_initialized())
      throw error(
          "tensor: there is no memory: Kokkos has not begun, or has ended; make a "
          "dimesh::runtime first, and tensors in main, after it");
    if (!hooked_) Kokkos::push_finalize_hook([this] { drain(); });
    hooked_ = true;
    auto made = std::make_unique<buffer>();
    b = made.get();
    b->home = this;
    b->slot = slot;
    b->capacity = size_of_slot(slot);
#ifdef DIMESH_CLOSED
    if (!facts_of_space(space_).is_near) b->data = closed_pages::all().take(b->capacity);
#else
    if (space_ == nullptr) b->data = slabs_.take(b->capacity);
#endif
    b->in_slab = b->data != nullptr;
    if (!b->in_slab) b->data = take_anew(b->capacity);
    ++allocations_;
    (void)made.release();
  }
  b->of_owner = owns;
  hand_out(b, bytes, owns ? own_live_ : shared_live_);
  return b;
}
inline void* pool::take_anew(std::size_t bytes) {
  const space_facts& space = facts_of_space(space_);
  std::size_t freed = 0;
  try {
    return space.take(bytes);
  } catch (const std::exception&) {
    if constexpr (!hosts_only) Kokkos::fence();  // kernels that wait may have been given them
    freed = free_all(false);
  }
  try {
    return space.take(bytes);
  } catch (const std::exception&) {
    throw error("tensor: " + std::string(space.name) + " has no " + std::to_string(bytes) +
                " bytes left; of this process " + std::to_string(live()) +
                " bytes are in use there, and " + std::to_string(freed) + " were freed in vain");
  }
}
DIMESH_OUTLINE inline std::size_t pool::free_all(bool those_of_slabs) {
  const space_facts& space = facts_of_space(space_);
  const std::size_t shared = free_memory(shared_, space, slabs_, those_of_slabs);
  if (!is_owner() && !those_of_slabs) return shared;  // the owner's are for the owner to free
  return shared + free_memory(own_, space, slabs_, those_of_slabs);
}
DIMESH_OUTLINE inline void pool::drain() {
  const std::lock_guard lock(lock_);
  (void)free_all(true);
  if (live() == 0) slabs_.give_back();  // else a handle that outlives Kokkos may need one
  drained_ = true;
}
inline void pool::become_own() {
  owned_pools& all = owned_pools::here();
  next_owned_ = all.first;
  all.first = this;
  owner_ = &this_thread;
}
inline void pool::become_everybodys() {
  const std::lock_guard lock(lock_);
  shared_.put_all(own_);
  shared_live_.set(live());
  own_live_.set(0);
  owner_ = nullptr;
}
DIMESH_OUTLINE inline owned_pools::~owned_pools() {
  this_thread = thread_work::ends;  // what is freed after this asks the lists of all
  while (pool* const it = first) {
    first = it->next_owned_;
    it->become_everybodys();
  }
}
#endif

template <class Memory> pool& pool_of_memory() {
  static pool* it = new pool(&facts_of_memory<Memory>);  // never destroyed, as that one
  return *it;
}

}  // namespace dimesh::detail

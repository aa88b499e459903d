// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tensors get their memory? From lists of free buffers, by size: after the first step of
// a training loop nothing is allocated any more. Each memory space has a pool of its own.
//
//   buffer* b = pool::of(space_of<near>).acquire(4096);   // uninitialised, 64-byte aligned
//   b->home->release(b);
//
// A device's kernels run one after the other: scratch memory may go back while they wait to.
//
// Where it spoils them, buffers are given out full of 0xff, which is NaN, or -1: an element that no
// kernel wrote is then seen. It does so with DIMESH_CHECKED, and where tests tell it to.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"
#include "dimesh/ledger/event.hpp"
#include "dimesh/memory/buffer.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/slab.hpp"
#include "dimesh/memory/space.hpp"

namespace dimesh::detail {

class pool {
 public:
  explicit pool(const space_facts* s) : space_(s) {}
  /// Of the default memory space.
  static pool& instance();
  static pool& of(const space_facts* s) { return s == nullptr ? instance() : s->buffers(); }
  const space_facts* space() const { return space_; }

  // Where a free buffer is there and nobody listens, nothing else is called.
  buffer* acquire(std::size_t bytes) {
    if (!spoils_ && watcher == nullptr && lock_.try_lock()) [[likely]] {
      buffer*& head = free_[static_cast<std::size_t>(slot_of(bytes))];
      buffer* const b = head;
      if (b != nullptr) [[likely]] {
        head = b->next;
        hand_out(b, bytes);
        lock_.unlock();
        return b;
      }
      lock_.unlock();
    }
    return acquire_slowly(bytes);
  }

  /// A part of a buffer, with owners of its own.
  buffer* part_of(buffer* whole);
  /// A record of memory that is not the pool's.
  buffer* borrow(void* data, lent how, std::shared_ptr<const void> keeps);

  void release(buffer* b) {
    const bool is_own = b->whole == nullptr && b->from_program == lent::no;
    if (is_own && watcher == nullptr && lock_.try_lock()) [[likely]] {
      const bool keeps = !drained_;
      if (keeps) [[likely]]
        put_away(b);
      lock_.unlock();
      if (keeps) [[likely]]
        return;
    }
    release_slowly(b);
  }

  /// (Threads that make batches take buffers, too.)
  pool_figures figures() {
    const std::lock_guard lock(lock_);
    return figures_;
  }
  void restart_peak() {
    const std::lock_guard lock(lock_);
    figures_.peak = figures_.live;
  }

  /// Are buffers spoilt before they are given out, from now on?
  void spoil_fresh(bool on) { spoils_ = on; }

 private:
  buffer* acquire_slowly(std::size_t bytes);
  void release_slowly(buffer* b);
  void take_back(buffer* b);
  void hand_out(buffer* b, std::size_t bytes) {
    b->asked = bytes;
    b->owners.store(1, std::memory_order_relaxed);
    figures_.live += static_cast<index_t>(bytes);
    if (figures_.live > figures_.peak) figures_.peak = figures_.live;
  }
  void put_away(buffer* b) {
    figures_.live -= static_cast<index_t>(b->asked);
    buffer*& head = free_[static_cast<std::size_t>(b->slot)];
    b->next = head;
    head = b;
  }
  /// A record of no memory of its own.
  buffer* record();
  /// Its memory is as its last owner left it.
  buffer* take(std::size_t bytes);

  // Sizes are 4, 5, 6, 7 times a power of two: at most a quarter is wasted.
  static int slot_of(std::size_t bytes) {
    if (bytes <= 64) return 0;
    const auto width = static_cast<int>(std::bit_width(bytes - 1));
    const auto quarter = ((bytes - 1) >> (width - 3)) & 3;
    return (width - 7) * 4 + static_cast<int>(quarter) + 1;
  }
  static std::size_t size_of(int slot);
  /// Memory of the space; where it has none left, once more without the free buffers.
  void* take_anew(std::size_t bytes);
  /// Gives free buffers back to the space. Returns their bytes.
  std::size_t free_all(bool those_of_slabs);
  void drain();

  const space_facts* space_;  // null: the default one
  std::array<buffer*, 256> free_{};
  buffer* parts_ = nullptr;  // free records of parts
  slabs slabs_;
  short_lock lock_;
  pool_figures figures_;
  bool hooked_ = false, drained_ = false;
#ifdef DIMESH_CHECKED
  bool spoils_ = true;
#else
  bool spoils_ = false;
#endif
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline pool& pool::instance() {
  static pool* it = new pool(nullptr);  // never destroyed: handles may outlive static destructors
  return *it;
}
DIMESH_OUTLINE inline buffer* pool::acquire_slowly(std::size_t bytes) {
  buffer* const b = take(bytes);
  if (spoils_) facts_of_space(space_).set(b->data, 0xff, bytes);
  if (watcher != nullptr) [[unlikely]]
    report_memory(*watcher, static_cast<index_t>(bytes), figures().live);
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
    report_memory(*watcher, -bytes, figures().live);
}
inline void pool::take_back(buffer* b) {
  const std::lock_guard lock(lock_);
  if (b->whole != nullptr || b->from_program != lent::no) {
    b->next = parts_;
    parts_ = b;
    return;
  }
  if (!drained_) return put_away(b);
  figures_.live -= static_cast<index_t>(b->asked);
  delete b;  // Kokkos has ended and taken the memory back
}
DIMESH_OUTLINE inline buffer* pool::record() {
  const std::lock_guard lock(lock_);
  buffer* b = parts_;
  if (b != nullptr)
    parts_ = b->next;
  else
    b = new buffer;
  b->home = this;
  b->owners.store(1, std::memory_order_relaxed);
  return b;
}
inline buffer* pool::take(std::size_t bytes) {
  const int slot = slot_of(bytes);
  const std::lock_guard lock(lock_);
  buffer*& head = free_[static_cast<std::size_t>(slot)];
  buffer* b = head;
  if (b != nullptr) {
    head = b->next;
  } else {
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
    b->capacity = size_of(slot);
#ifdef DIMESH_CLOSED
    if (!facts_of_space(space_).is_near) b->data = closed_pages::all().take(b->capacity);
#else
    if (space_ == nullptr) b->data = slabs_.take(b->capacity);
#endif
    b->in_slab = b->data != nullptr;
    if (!b->in_slab) b->data = take_anew(b->capacity);
    ++figures_.allocations;
    (void)made.release();
  }
  hand_out(b, bytes);
  return b;
}
DIMESH_OUTLINE inline std::size_t pool::size_of(int slot) {
  if (slot == 0) return 64;
  const int width = (slot - 1) / 4 + 7;
  return (std::size_t{4} + static_cast<std::size_t>((slot - 1) % 4) + 1) << (width - 3);
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
                " bytes left; of this process " + std::to_string(figures_.live) +
                " bytes are in use there, and " + std::to_string(freed) + " were freed in vain");
  }
}
DIMESH_OUTLINE inline std::size_t pool::free_all(bool those_of_slabs) {
  std::size_t bytes = 0;
  for (buffer*& head : free_)
    for (buffer** at = &head; *at != nullptr;) {
      buffer* const b = *at;
      if (b->in_slab && !those_of_slabs && !slabs::has_own(b->capacity)) {
        at = &b->next;
        continue;
      }
      *at = b->next;
      bytes += b->capacity;
      if (!b->in_slab)
        facts_of_space(space_).give_back(b->data);
      else if (slabs::has_own(b->capacity))
        slabs_.give_back(b->data);
      delete b;
    }
  return bytes;
}
DIMESH_OUTLINE inline void pool::drain() {
  const std::lock_guard lock(lock_);
  (void)free_all(true);
  if (figures_.live == 0) slabs_.give_back();  // else a handle that outlives Kokkos may need one
  drained_ = true;
}
#endif

template <class Memory> pool& pool_of_memory() {
  static pool* it = new pool(&facts_of_memory<Memory>);  // never destroyed, as that one
  return *it;
}

}  // namespace dimesh::detail
